-- The platform counts the active people up to a day on days with use only: of
-- others they are not known, unless there was none in all of that time. Where
-- people have more days together than the active people of the month can have,
-- there is no stickiness.
with
    windowed as (
        select
            *,
            is_activity_empty
            and count(daily_active_users) over last_7_days = 7
            and sum(daily_active_users) over last_7_days = 0 as is_idle_week,
            is_activity_empty
            and count(daily_active_users) over last_30_days = 30
            and sum(daily_active_users) over last_30_days = 0 as is_idle_month
        from org_days
        window
            last_7_days as (
                partition by org_id
                order by activity_date
                range between interval 6 day preceding and current row
            ),
            last_30_days as (
                partition by org_id
                order by activity_date
                range between interval 29 day preceding and current row
            )
    )

select
    org_id,
    cast(activity_date as varchar) as day,
    windowed.daily_active_users as daily,
    coalesce(weekly_active_users, if(is_idle_week, 0, null)) as weekly,
    coalesce(monthly_active_users, if(is_idle_month, 0, null)) as monthly,
    case
        when stickiness_30d between 0 and 1 then round(stickiness_30d, 4)
    end as stickiness
from windowed
left join main.mart_active_users using (org_id, activity_date)
where
    coalesce(windowed.daily_active_users, weekly_active_users, monthly_active_users)
    is not null
order by org_id, activity_date
