copy (
    select
        item,
        ordinal,
        page,
        fetched_at,
        request,
        request_id,
        run_id
    from read_json(
        {{ lines }},
        format = 'newline_delimited',
        auto_detect = false,
        maximum_object_size = {{ longest_line }},
        columns = {
            item: 'VARCHAR',
            ordinal: 'BIGINT',
            page: 'BIGINT',
            fetched_at: 'TIMESTAMPTZ',
            request: 'VARCHAR',
            request_id: 'VARCHAR',
            run_id: 'VARCHAR'
        }
    )
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
