insert into meta.models by name
select
    row.table_schema,
    row.model,
    row.materialized,
    row.run_id,
    row.made_by,
    row.fingerprint,
    row.content,
    row.unit_tests,
    {{ engine }} as engine
from (
    select unnest(
        from_json(
            cast($rows as varchar),
            '[{
                "table_schema": "VARCHAR",
                "model": "VARCHAR",
                "materialized": "VARCHAR",
                "run_id": "VARCHAR",
                "made_by": "VARCHAR",
                "fingerprint": "VARCHAR",
                "content": "VARCHAR",
                "unit_tests": "VARCHAR"
            }]'
        )
    ) as row
)
