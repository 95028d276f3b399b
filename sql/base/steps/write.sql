copy (
{{ select }}
) to {{ file }} (
    format parquet,
    compression zstd,
    row_group_size 20480
)
