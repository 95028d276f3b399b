-- The newest whole month or, without one, the newest month. Components of fewer
-- than five users are combined with the next larger one. Three components
-- concern the same users, who are counted with the first.
with
    months as (
        select
            org_id,
            coalesce(
                max(month_start_date) filter (last_day(month_start_date) <= data_through),
                max(month_start_date)
            ) as month_start_date
        from main.mart_spend_bridge
        inner join chosen using (org_id)
        group by 1
    ),

    components as (
        select
            *,
            if(component in ('model_mix', 'rate'), 0, component_users) as people,
            component_users > 0
            and hides(
                (org_id, component_users > 0), component_users, people, component_order
            ) as is_hidden
        from main.mart_spend_bridge
        inner join months using (org_id, month_start_date)
    )

select
    org_id,
    strftime(month_start_date, '%Y-%m') as month,
    strftime(month_start_date - interval 1 month, '%Y-%m') as previous_month,
    compared_days,
    string_agg(component, ',' order by component_order) as components,
    cast(sum(billable_tokens_change) as double) as change,
    greatest(max(component_users), sum(people)) as users,
    cast(max(billable_tokens) as double) as billable_tokens,
    cast(max(previous_billable_tokens) as double) as previous_billable_tokens
from components
group by org_id, month_start_date, compared_days, if(is_hidden, 'hidden', component)
order by org_id, min(component_order)
