-- One row per org and day of `activity`.
select
    org_id,
    activity_date,
    to_count(item.daily_active_users) as daily_active_users,
    to_count(item.weekly_active_users) as weekly_active_users,
    to_count(item.monthly_active_users) as monthly_active_users,
    to_count(item.sessions) as sessions,
    to_count(item.messages) as messages,
    to_count(item.user_messages) as user_messages,
    fetched_at
from parsed
