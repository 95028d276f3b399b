-- The state of each resource on each day of one organisation.
copy (
    from (
        select
            unnest(
                from_json(
                    {{ rows }},
                    '[{
                        "org_id": "VARCHAR",
                        "resource": "VARCHAR",
                        "activity_date": "DATE",
                        "is_analytics": "BOOLEAN",
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
                ),
                recursive := true
            )
    )
    order by org_id, resource, activity_date
) to {{ file }} (format parquet, compression zstd)
