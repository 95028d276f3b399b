-- The versions in a merged file, from its metadata.
select max(case when decode(key) = 'versions' then decode(value) end) as versions
from parquet_kv_metadata({{ file }})
