select
    org_id,
    activity_date,
    coalesce(nullif(user_id, ''), '(unattributed)') as user_id,
    language,
    day_digest,
    fetched_at
from {{ source('platform', 'user_languages') }}
