-- Where people have more days together than the active people of the month can
-- have, there is no stickiness.
select
    org_id,
    cast(activity_date as varchar) as day,
    daily_active_users as daily,
    weekly_active_users as weekly,
    monthly_active_users as monthly,
    case
        when stickiness_30d between 0 and 1 then round(stickiness_30d, 4)
    end as stickiness
from main.mart_active_users
inner join chosen using (org_id)
order by org_id, activity_date
