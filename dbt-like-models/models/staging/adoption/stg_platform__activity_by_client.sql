select
    org_id,
    activity_date,
    coalesce(nullif(group_key, ''), '(unnamed)') as client,
    daily_active_users,
    fetched_at
from {{ source('platform', 'activity_by_client') }}
