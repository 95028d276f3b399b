copy (
    select
        cast(item as varchar) as item,
        cast(ordinal as bigint) as ordinal,
        cast(page as bigint) as page,
        cast({{ fetched_at }} as timestamptz) as fetched_at,
        {{ request }} as request,
        format('req_{:08x}', page) as request_id,
        'bench' as run_id
    from ({{ select }})
) to {{ file }} (
    format parquet,
    compression zstd,
    row_group_size 20480,
    kv_metadata {
        org_id: {{ org_id }},
        resource: {{ resource }},
        activity_date: {{ day }},
        fetched_at: {{ fetched_at }},
        request_id: 'req_00000001',
        run_id: 'bench',
        digest: {{ digest }}
    }
)
