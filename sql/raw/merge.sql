-- Writes the rows of files of one resource and month, one file after the other.
copy (
    select
        item,
        ordinal,
        page,
        fetched_at,
        request,
        request_id,
        run_id
    from read_parquet({{ files }}, hive_partitioning = false)
) to {{ file }} (
    format parquet,
    compression zstd,
    row_group_size 4096,
    kv_metadata {
        org_id: {{ org_id }},
        resource: {{ resource }},
        month: {{ month }},
        versions: {{ versions }}
    }
)
