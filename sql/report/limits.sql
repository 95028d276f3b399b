-- How many users will pass their limit in the running month.
select
    org_id,
    strftime(month_start_date, '%Y-%m') as month,
    count_if(will_exceed) as users_over
from main.mart_limit_usage
inner join chosen using (org_id)
where month_start_date = cast(date_trunc('month', last_day) as date)
group by 1, 2
order by 1
