select * from read_parquet({{ files }}, hive_partitioning = false)
where activity_date in (select unnest(cast({{ days }} as date[])))
