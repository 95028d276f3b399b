-- The mean daily users of each client over the days of a week; NULL if a day is
-- not known.
select
    weeks.org_id,
    cast(week_start_date as varchar) as week,
    client,
    case
        when count(daily_active_users) = count(*)
        then round(sum(daily_active_users) / 7, 2)
    end as daily_users
from main.fct_client_day as clients
inner join whole_weeks as weeks
    on
        clients.org_id = weeks.org_id
        and date_trunc('week', clients.activity_date) = weeks.week_start_date
group by all
order by weeks.org_id, week, client
