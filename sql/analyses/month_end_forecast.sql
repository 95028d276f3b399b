-- How many credits will this month consume, and when are the limits used up?
-- As of the last known day: credits so far and of the whole month, with a band
-- that should contain four months in five. With too little history these are
-- NULL, and only the straight line is left, which varies strongly in the first
-- days of a month. The platform has limits for users only, so the limit is the
-- sum of these.
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
qualify as_of_date = max(as_of_date) over (partition by org_id)
order by 1
