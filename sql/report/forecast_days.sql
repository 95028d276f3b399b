-- Each day of the newest month: the credits so far, and the forecast of that
-- day for the whole month. If the month is over and its last days are missing,
-- it ends at its last known day: nothing is expected of the others.
with
    days as (
        select
            *,
            last_day(month_start_date) <= last_asked_day
            and days_left > 0
            and as_of_date = max(as_of_date) over (partition by org_id) as is_end
        from main.mart_budget_forecast
        inner join chosen using (org_id)
        qualify month_start_date = max(month_start_date) over (partition by org_id)
    )

select
    org_id,
    strftime(month_start_date, '%Y-%m') as month,
    cast(as_of_date as varchar) as day,
    if(is_end, 0, days_left) as days_left,
    cast(month_to_date_billable_tokens as double) as month_to_date,
    if(is_end, null, cast(forecast_billable_tokens_p10 as double)) as p10,
    if(is_end, null, cast(forecast_billable_tokens_p50 as double)) as p50,
    if(is_end, null, cast(forecast_billable_tokens_p90 as double)) as p90,
    cast(credit_limit as double) as credit_limit,
    if(
        is_end and exhaustion_date > as_of_date, null, cast(exhaustion_date as varchar)
    ) as exhaustion_day,
    days_in_month - known_days - if(is_end, 0, days_left) as missing_days
from days
order by org_id, as_of_date
