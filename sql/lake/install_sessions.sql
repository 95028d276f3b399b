-- Sessions that installed the dependencies of computers.
select distinct session_id
from (
    select
        unnest(try(json_extract_string(
            readable(item),
            '$.provisioningSteps[*].installSessionId'
        ))) as session_id
    from read_parquet({{ files }}, hive_partitioning = false)
)
where session_id is not null
order by 1
