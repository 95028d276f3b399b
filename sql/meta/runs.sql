create or replace table meta.runs as
select
    row.run_id,
    row.command,
    row.version,
    row.status,
    row.exit_code,
    row.started_at,
    row.finished_at,
    row.days_landed,
    row.days_empty,
    row.days_unchanged,
    row.days_failed,
    row.requests
from (
    select unnest(
        from_json(
            cast($rows as varchar),
            '[{
                "run_id": "VARCHAR",
                "command": "VARCHAR",
                "version": "VARCHAR",
                "status": "VARCHAR",
                "exit_code": "BIGINT",
                "started_at": "TIMESTAMPTZ",
                "finished_at": "TIMESTAMPTZ",
                "days_landed": "BIGINT",
                "days_empty": "BIGINT",
                "days_unchanged": "BIGINT",
                "days_failed": "BIGINT",
                "requests": "BIGINT"
            }]'
        )
    ) as row
)
order by row.started_at, row.run_id
