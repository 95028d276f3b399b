select item
from read_parquet({{ file }}, hive_partitioning = false)
order by page, ordinal
