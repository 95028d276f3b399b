create or replace table meta.intervals as
select
    row.org_id,
    row.resource,
    row.activity_date,
    row.status,
    row.is_settled,
    row.is_suspect,
    row.fetched_at,
    row.row_count,
    row.versions,
    row.attempts,
    row.request_id,
    row.error,
    row.is_recoverable
from (
    select unnest(
        from_json(
            cast($rows as varchar),
            '[{
                "org_id": "VARCHAR",
                "resource": "VARCHAR",
                "activity_date": "DATE",
                "status": "VARCHAR",
                "is_settled": "BOOLEAN",
                "is_suspect": "BOOLEAN",
                "fetched_at": "TIMESTAMPTZ",
                "row_count": "BIGINT",
                "versions": "BIGINT",
                "attempts": "BIGINT",
                "request_id": "VARCHAR",
                "error": "VARCHAR",
                "is_recoverable": "BOOLEAN"
            }]'
        )
    ) as row
)
order by row.org_id, row.resource, row.activity_date
