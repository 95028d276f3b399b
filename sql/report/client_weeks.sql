-- The mean daily users of each client over the days of a week.
select
    org_id,
    cast(date_trunc('week', activity_date) as date)::varchar as week,
    client,
    round(sum(daily_active_users) / 7, 2) as daily_users
from main.fct_client_day
inner join chosen using (org_id)
where
    date_trunc('week', activity_date) >= first_day
    and date_trunc('week', activity_date) + interval 6 day <= data_through
group by all
order by org_id, week, client
