-- Which tools does the agent call?
-- The last known month, which may be incomplete. `(unparsed)` are calls
-- whose name cannot be read, and `(unattributed)` those of the day's total that
-- no tool accounts for, so that shares refer to all calls.
select
    org_id,
    month_start_date,
    tool_name,
    invocations,
    round(share, 4) as share,
    known_days,
    days_in_month
from main.mart_tool_mix
qualify month_start_date = max(month_start_date) over (partition by org_id)
order by 1, 4 desc nulls last, 3
