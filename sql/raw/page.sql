select item
from read_parquet({{ file }}, hive_partitioning = false)
where page = {{ page }}
order by ordinal
