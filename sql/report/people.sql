-- The 100 people with most credits in 28 days. Only with --people.
select
    org_id,
    user_label as person,
    usage_group,
    active_days_28d as active_days,
    cast(billable_tokens_28d as double) as billable_tokens,
    sessions_28d as sessions,
    tool_calls_28d as tool_calls,
    cast(last_active_date as varchar) as last_active
from main.mart_user_28d
inner join chosen using (org_id)
where billable_tokens_28d > 0 and names_people
qualify
    row_number() over (
        partition by org_id
        order by billable_tokens_28d desc nulls last, user_id
    ) <= 100
order by org_id, billable_tokens_28d desc
