create or replace table meta.source_freshness as
select
    row.source_name,
    row.table_name,
    row.loaded_at,
    row.checked_at,
    row.warn_after_seconds,
    row.error_after_seconds,
    row.status
from (
    select unnest(
        from_json(
            cast($rows as varchar),
            '[{
                "source_name": "VARCHAR",
                "table_name": "VARCHAR",
                "loaded_at": "TIMESTAMPTZ",
                "checked_at": "TIMESTAMPTZ",
                "warn_after_seconds": "BIGINT",
                "error_after_seconds": "BIGINT",
                "status": "VARCHAR"
            }]'
        )
    ) as row
)
order by row.source_name, row.table_name
