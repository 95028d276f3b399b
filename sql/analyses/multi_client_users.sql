-- How many users work with more than one client?
-- The 28 days to the last complete day, as a minimum and a maximum, because the
-- platform only counts the users of each client. The result is empty if the
-- platform sends no users by client.
select
    org_id,
    activity_date,
    daily_active_users,
    active_clients,
    multi_client_users_min,
    multi_client_users_max
from main.fct_client_overlap_day
inner join main.mart_data_health using (org_id)
where activity_date > data_through - 28
    and activity_date <= data_through
order by 1, 2 desc
