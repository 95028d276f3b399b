select
    org_id,
    cast(activity_date as varchar) as day,
    daily_active_users as daily,
    weekly_active_users as weekly,
    monthly_active_users as monthly,
    round(stickiness_30d, 4) as stickiness
from main.mart_active_users
inner join chosen using (org_id)
order by org_id, activity_date
