-- What will this month come to, and when are the limits used up?
-- As of the last known day: credits so far and of the whole month, with a band
-- that should contain four months in five. With too little history these are
-- NULL, and only the straight line is left, which varies strongly in the first
-- days of a month. The platform has limits for users only, so the limit is the
-- sum of these.
with last_days as (
    select
        org_id,
        max(as_of_date) as last_date
    from main.mart_budget_forecast
    group by 1
)

select
    org_id,
    as_of_date,
    known_days,
    days_in_month,
    month_to_date_billable_tokens as credits,
    forecast_billable_tokens_p10 as forecast_p10,
    forecast_billable_tokens_p50 as forecast_p50,
    forecast_billable_tokens_p90 as forecast_p90,
    straight_line_billable_tokens as straight_line,
    credit_limit,
    exhaustion_date
from main.mart_budget_forecast
inner join last_days using (org_id)
where as_of_date = last_days.last_date
order by 1
