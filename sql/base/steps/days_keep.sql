-- Days that are made from the same files as before stay as they are.
insert into base_rows by name
select * from read_parquet({{ file }}, hive_partitioning = false)
where made_from in (select unnest({{ made_from }}))
