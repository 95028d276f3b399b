-- The state of each resource on each day of one organisation.
copy (
    select
        interval_row.org_id,
        interval_row.resource,
        interval_row.activity_date,
        interval_row.status,
        interval_row.is_settled,
        interval_row.fetched_at
    from (
        select unnest(
            from_json(
                {{ rows }},
                '[{
                    "org_id": "VARCHAR",
                    "resource": "VARCHAR",
                    "activity_date": "DATE",
                    "status": "VARCHAR",
                    "is_settled": "BOOLEAN",
                    "fetched_at": "TIMESTAMPTZ"
                }]'
            )
        ) as interval_row
    )
    order by 1, 2, 3
) to {{ file }} (format parquet, compression zstd)
