-- The sum of the limits of the running month, if each user's limit is known.
select
    org_id,
    strftime(month_start_date, '%Y-%m') as month,
    count(*) as users,
    count_if(will_exceed) as users_over,
    cast(sum(forecast_billable_tokens) as double) as forecast,
    cast(sum(effective_limit) as double) as credit_limit,
    count_if(effective_limit is null) as users_without_limit
from main.mart_limit_usage
inner join chosen using (org_id)
where month_start_date = cast(date_trunc('month', last_day) as date)
group by 1, 2
order by 1
