-- One row per org, day and group of `activity_by_client`.
select
    org_id,
    activity_date,
    item.group_key,
    to_count(item.daily_active_users) as daily_active_users,
    fetched_at
from parsed
