copy (
{{ select }}
) to {{ file }} (
    format parquet,
    compression snappy,
    row_group_size 20480
)
