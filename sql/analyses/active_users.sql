-- How many people use the agent by day, week and month, and how regularly?
-- The last 28 days; days that are not known have no numbers. Weekly and monthly
-- users are those of the 7 and 30 days up to and including the day. For a
-- period, use its last day, never a sum or an average of days.
with last_days as (
    select
        org_id,
        max(activity_date) as last_date
    from main.mart_active_users
    group by 1
)

select
    org_id,
    dim_date.activity_date,
    mart_active_users.daily_active_users,
    mart_active_users.weekly_active_users,
    mart_active_users.monthly_active_users,
    round(mart_active_users.stickiness_7d, 3) as stickiness_7d,
    round(mart_active_users.stickiness_30d, 3) as stickiness_30d
from main.dim_date
inner join last_days using (org_id)
left join main.mart_active_users using (org_id, activity_date)
where dim_date.activity_date > last_days.last_date - 28
    and dim_date.activity_date <= last_days.last_date
order by 1, 2 desc
