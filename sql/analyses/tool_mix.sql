-- Which tools does the agent call?
-- The last known month, which may be incomplete. `(unparsed)` are calls
-- whose name cannot be read, and `(unattributed)` those of the day's total that
-- no tool accounts for, so that shares refer to all calls.
with last_months as (
    select
        org_id,
        max(month_start_date) as last_month
    from main.mart_tool_mix
    group by 1
)

select
    org_id,
    month_start_date,
    tool_name,
    invocations,
    round(share, 4) as share,
    known_days,
    days_in_month
from main.mart_tool_mix
inner join last_months using (org_id)
where month_start_date = last_months.last_month
order by 1, 4 desc nulls last, 3
