-- After a week with a missing day, people who were only not seen in it would count
-- as returned.
select
    org_id,
    cast(week_start_date as varchar) as week,
    active_users,
    new_users,
    retained_users,
    resurrected_users,
    churned_users,
    is_left_edge
from main.mart_user_lifecycle_week
inner join chosen using (org_id)
where is_complete_week and is_week_before_complete
order by org_id, week_start_date
