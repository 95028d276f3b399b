-- How many users work with more than one client?
-- The last 28 days, as a minimum and a maximum, because the platform only
-- counts the users of each client. The result is empty if the platform sends no
-- users by client.
with last_days as (
    select
        org_id,
        max(activity_date) as last_date
    from main.fct_client_overlap_day
    group by 1
)

select
    org_id,
    activity_date,
    daily_active_users,
    active_clients,
    multi_client_users_min,
    multi_client_users_max
from main.fct_client_overlap_day
inner join last_days using (org_id)
where activity_date > last_days.last_date - 28
order by 1, 2 desc
