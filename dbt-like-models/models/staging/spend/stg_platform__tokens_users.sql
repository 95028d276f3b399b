select
    org_id,
    activity_date,
    coalesce(nullif(user_id, ''), '(unattributed)') as user_id,
    user_email,
    billable_tokens,
    input_tokens,
    output_tokens,
    fetched_at
from {{ source('platform', 'tokens_users') }}
