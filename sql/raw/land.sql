copy (
    select * exclude (day_or_file)
    from {{ rows }}
) to {{ file }} (
    format parquet,
    compression zstd,
    row_group_size 4096,
    kv_metadata {
        org_id: {{ org_id }},
        resource: {{ resource }},
        activity_date: {{ activity_date }},
        fetched_at: {{ fetched_at }},
        request_id: {{ request_id }},
        run_id: {{ run_id }},
        digest: {{ digest }}
    }
)
