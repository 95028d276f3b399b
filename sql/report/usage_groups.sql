select
    org_id,
    active_days_28d as active_days,
    count(*) as users
from main.mart_user_28d
inner join chosen using (org_id)
group by 1, 2
order by 1, 2
