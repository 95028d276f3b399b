-- The current month and the month before it, on the days whose credits are
-- known in both.
select
    org_id,
    strftime(month_start_date, '%Y-%m') as month,
    strftime(month_start_date - interval 1 month, '%Y-%m') as previous_month,
    compared_days,
    cast(billable_tokens as double) as billable_tokens,
    cast(previous_billable_tokens as double) as previous_billable_tokens
from main.mart_spend_bridge
inner join chosen using (org_id)
where
    component = 'volume'
    and month_start_date = cast(date_trunc('month', last_day) as date)
order by org_id
