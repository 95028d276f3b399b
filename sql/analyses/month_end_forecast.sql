-- What will this month come to, if it goes on as it has begun?
-- Credits of the users so far, and times the days of the month over the known
-- ones: a straight line, which swings in the first days of a month.
with last_months as (
    select
        org_id,
        max(month_start_date) as last_month
    from main.mart_limit_usage
    group by 1
)

select
    org_id,
    month_start_date,
    max(known_days) as known_days,
    max(days_in_month) as days_in_month,
    sum(billable_tokens) as credits,
    sum(forecast_billable_tokens) as forecast_credits
from main.mart_limit_usage
inner join last_months using (org_id)
where month_start_date = last_months.last_month
group by 1, 2
order by 1
