-- Why do the credits of this month differ from those of the month before?
-- The same days of both months. The components add up to the difference: users
-- who joined or left, and for those who stayed, how much they used, which
-- models, and at what rate. The result is empty if no two months have a known
-- day in common.
with last_months as (
    select
        org_id,
        max(month_start_date) as last_month
    from main.mart_spend_bridge
    group by 1
)

select
    org_id,
    mart_spend_bridge.month_start_date,
    mart_spend_bridge.component,
    mart_spend_bridge.billable_tokens_change as credits_change,
    mart_spend_bridge.component_users as users,
    mart_spend_bridge.billable_tokens as credits,
    mart_spend_bridge.previous_billable_tokens as credits_before,
    mart_spend_bridge.compared_days
from main.mart_spend_bridge
inner join last_months using (org_id)
where mart_spend_bridge.month_start_date = last_months.last_month
order by 1, mart_spend_bridge.component_order
