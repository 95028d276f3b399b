delete from meta.check_results
where check_name in (
    select row.check_name
    from (
        select unnest(
            from_json(
                cast($rows as varchar),
                '[{"check_name": "VARCHAR"}]'
            )
        ) as row
    )
)
