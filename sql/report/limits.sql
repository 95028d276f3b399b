-- How many users have passed their limit in the current month, and how many
-- will have at its end; no user will in a month that is over.
select
    org_id,
    strftime(month_start_date, '%Y-%m') as month,
    count_if(is_exceeded) as users_past,
    count_if(
        is_exceeded or (will_exceed and last_day(month_start_date) > last_asked_day)
    ) as users_over
from main.mart_limit_usage
inner join chosen using (org_id)
where month_start_date = cast(date_trunc('month', last_day) as date)
group by 1, 2
order by 1
