-- Which hooks run, and how often?
-- The last 28 days. The platform only counts executions: it does not serve
-- whether one failed. `session_outcomes` says how sessions ended. The result is
-- empty if no hook ran.
with last_days as (
    select
        org_id,
        max(activity_date) as last_date
    from main.fct_hook_day
    group by 1
)

select
    org_id,
    hook_event,
    matcher,
    command,
    cast(sum(invocations) as bigint) as invocations,
    count(*) as days_used
from main.fct_hook_day
inner join last_days using (org_id)
where activity_date > last_days.last_date - 28
group by 1, 2, 3, 4
order by 1, 5 desc nulls last, 2, 3, 4
