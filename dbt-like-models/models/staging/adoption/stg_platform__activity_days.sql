select
    org_id,
    activity_date,
    daily_active_users,
    weekly_active_users,
    monthly_active_users,
    sessions,
    messages,
    user_messages,
    fetched_at
from {{ source('platform', 'activity_days') }}
