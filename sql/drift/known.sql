select
    resource,
    path,
    kind
from read_parquet({{ files }}, hive_partitioning = false)
where path is not null
