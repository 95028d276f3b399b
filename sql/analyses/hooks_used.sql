-- Which hooks run, and how often?
-- The 28 days to the last complete day. The platform only counts executions: it
-- does not say whether one failed. `session_outcomes` says how sessions ended.
-- The result is empty if no hook ran.
select
    org_id,
    hook_event,
    matcher,
    command,
    cast(sum(invocations) as bigint) as invocations,
    count(*) as days_used
from main.fct_hook_day
inner join main.mart_data_health using (org_id)
where activity_date > data_through - 28
    and activity_date <= data_through
    and invocations is distinct from 0
group by 1, 2, 3, 4
order by 1, 5 desc nulls last, 2, 3, 4
