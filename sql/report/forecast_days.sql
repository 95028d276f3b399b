-- Each day of the newest month: the credits so far, and the forecast of that
-- day for the whole month.
select
    org_id,
    strftime(month_start_date, '%Y-%m') as month,
    cast(as_of_date as varchar) as day,
    days_left,
    cast(month_to_date_billable_tokens as double) as month_to_date,
    cast(forecast_billable_tokens_p10 as double) as p10,
    cast(forecast_billable_tokens_p50 as double) as p50,
    cast(forecast_billable_tokens_p90 as double) as p90,
    cast(credit_limit as double) as credit_limit,
    cast(exhaustion_date as varchar) as exhaustion_day,
    days_in_month - days_left - known_days as missing_days
from main.mart_budget_forecast
inner join chosen using (org_id)
qualify month_start_date = max(month_start_date) over (partition by org_id)
order by org_id, as_of_date
