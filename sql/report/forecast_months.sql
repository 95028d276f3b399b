-- The errors of the forecasts in a past month, compared with two simple
-- forecasts.
select
    org_id,
    strftime(month_start_date, '%Y-%m') as month,
    count(*) as forecasts,
    round(avg(absolute_percentage_error), 4) as error,
    round(avg(last_month_error), 4) as last_month_error,
    round(avg(straight_line_error), 4) as straight_line_error,
    count_if(is_within_band) as within_band
from main.mart_budget_forecast
inner join chosen using (org_id)
where
    absolute_percentage_error is not null
    and month_start_date > last_day - interval 12 month
group by 1, 2
order by 1, 2
