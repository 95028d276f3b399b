-- Every item with its key.
select
    try(json_extract_string(readable(item), {{ key }})) as key,
    sha256(item) as hash
from read_parquet({{ files }}, hive_partitioning = false)
