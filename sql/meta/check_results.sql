insert into meta.check_results by name
select
    row.run_id,
    row.check_name,
    row.model,
    row.column_name,
    row.severity,
    row.status,
    row.failures,
    row.query,
    row.checked_at
from (
    select unnest(
        from_json(
            cast($rows as varchar),
            '[{
                "run_id": "VARCHAR",
                "check_name": "VARCHAR",
                "model": "VARCHAR",
                "column_name": "VARCHAR",
                "severity": "VARCHAR",
                "status": "VARCHAR",
                "failures": "BIGINT",
                "query": "VARCHAR",
                "checked_at": "TIMESTAMPTZ"
            }]'
        )
    ) as row
)
