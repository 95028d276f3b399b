-- Of the newest whole month, or where there is none of the newest one. A component of fewer
-- than five users stands with what is not attributed.
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
            case
                when component_users < 5 then '(unattributed)'
                else component
            end as shown
        from main.mart_spend_bridge
        inner join months using (org_id, month_start_date)
    )

select
    org_id,
    strftime(month_start_date, '%Y-%m') as month,
    strftime(month_start_date - interval 1 month, '%Y-%m') as previous_month,
    compared_days,
    shown as component,
    cast(sum(billable_tokens_change) as double) as change,
    if(shown = '(unattributed)', null, max(component_users)) as users,
    cast(max(billable_tokens) as double) as billable_tokens,
    cast(max(previous_billable_tokens) as double) as previous_billable_tokens
from components
group by org_id, month_start_date, compared_days, shown
order by org_id, max(component_order)
