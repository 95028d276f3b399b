-- Rows and users of raw files, by file; a file without rows is not among them.
select
    filename as file,
    count(*) as row_count,
    count(distinct coalesce(
        nullif(try(json_extract_string(item, '$.user_id')), ''),
        item
    )) as users
from read_parquet({{ files }}, filename = true, hive_partitioning = false)
group by 1
