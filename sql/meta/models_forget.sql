delete from meta.models
where model in (
    select row.model
    from (
        select unnest(
            from_json(cast($rows as varchar), '[{"model": "VARCHAR"}]')
        ) as row
    )
)
