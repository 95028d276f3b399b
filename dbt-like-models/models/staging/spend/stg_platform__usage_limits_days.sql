select
    org_id,
    activity_date,
    global_limit,
    fetched_at
from {{ source('platform', 'usage_limits_days') }}
