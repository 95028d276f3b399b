-- The last request of raw files, by file, as landing noted it.
select
    file_name as file,
    nullif(decode(value), '') as request_id
from parquet_kv_metadata({{ files }})
where decode(key) = 'request_id'
