-- The mean daily users of each client over the days of a week: zero without a
-- row, and NULL if a day is not known. Clients and weeks of the last year.
with
    clients as (
        select org_id, client, min(activity_date) as first_date
        from main.fct_client_day
        inner join chosen using (org_id)
        where activity_date > chosen.last_day - 371
        group by 1, 2
    )

select
    weeks.org_id,
    cast(week_start_date as varchar) as week,
    clients.client,
    case
        when count(daily_active_users) = count(days.activity_date)
        then round(coalesce(sum(daily_active_users), 0) / 7, 2)
    end as daily_users
from whole_weeks as weeks
inner join clients on weeks.org_id = clients.org_id and week_start_date + 6 >= first_date
left join main.fct_client_day as days
    on
        clients.org_id = days.org_id
        and clients.client = days.client
        and date_trunc('week', days.activity_date) = week_start_date
group by all
order by weeks.org_id, week, clients.client
