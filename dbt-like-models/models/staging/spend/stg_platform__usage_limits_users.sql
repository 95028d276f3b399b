select
    org_id,
    activity_date,
    user_email,
    credit_limit,
    fetched_at
from {{ source('platform', 'usage_limits_users') }}
