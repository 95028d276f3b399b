-- Sessions that installed the dependencies of computers.
select distinct session_id
from (
    select
        unnest(try(json_extract_string(
            readable(item),
            '$.provisioningSteps[*].installSessionId'
        ))) as session_id
    from {{ rows }}
)
where session_id is not null
order by 1
