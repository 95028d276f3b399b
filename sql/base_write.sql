copy (
{{ select }}
) to {{ file }} (format parquet, compression zstd)
