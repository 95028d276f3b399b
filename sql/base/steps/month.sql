copy (
{{ select }}
) to {{ file }} (
    format parquet,
    compression zstd,
    row_group_size 20480,
    kv_metadata {
        made_by: {{ made_by }},
        versions: {{ versions }}
    }
)
