-- The statements and versions that a base month was made from, as its file records.
select
    max(case when decode(key) = 'made_by' then decode(value) end) as made_by,
    max(case when decode(key) = 'versions' then decode(value) end) as versions
from parquet_kv_metadata($file)
