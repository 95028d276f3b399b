select
    org_id,
    activity_date,
    coalesce(nullif(client, ''), '(unnamed)') as client,
    daily_active_users,
    fetched_at
from {{ source('platform', 'activity_clients') }}
