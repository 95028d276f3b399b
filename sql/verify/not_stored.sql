-- Served numbers that the warehouse cannot store exactly.
select
    org_id,
    resource,
    path,
    kind,
    cast(activity_date as varchar) as day
from read_parquet({{ drift }}, hive_partitioning = false)
where kind in ('unreadable', 'rounded', 'overflow')
    and expected in ('integer', 'decimal', 'number')
order by all
