-- The versions in a merged file, as its metadata has them.
select max(case when decode(key) = 'versions' then decode(value) end) as versions
from parquet_kv_metadata({{ file }})
