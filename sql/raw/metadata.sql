-- The metadata of raw files.
select
    file_name,
    decode(key) as key,
    decode(value) as value
from parquet_kv_metadata({{ files }})
