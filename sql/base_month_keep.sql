select * from read_parquet({{ held }}, hive_partitioning = false)
where activity_date in ({{ days }})
union all by name
(
{{ select }}
)
