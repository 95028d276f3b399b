-- Why do the credits of this month differ from those of the month before?
-- The same days of both months. The components add up to the difference: users
-- who joined or left, and for those who stayed, how much they used, which
-- models, and at what rate. The result is empty if no two months have a known
-- day in common.
select
    org_id,
    month_start_date,
    component,
    billable_tokens_change as credits_change,
    component_users as users,
    billable_tokens as credits,
    previous_billable_tokens as credits_before,
    compared_days
from main.mart_spend_bridge
qualify month_start_date = max(month_start_date) over (partition by org_id)
order by 1, component_order
