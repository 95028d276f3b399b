create or replace table meta.build as
select
    row.run_id,
    row.built_at,
    row.as_of
from (
    select unnest(
        from_json(
            cast($rows as varchar),
            '[{
                "run_id": "VARCHAR",
                "built_at": "TIMESTAMPTZ",
                "as_of": "TIMESTAMPTZ"
            }]'
        )
    ) as row
)
