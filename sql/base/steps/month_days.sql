select * from read_parquet({{ files }}, hive_partitioning = false)
where {{ day }} in (select unnest({{ days }}))
