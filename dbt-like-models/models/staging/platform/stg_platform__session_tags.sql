select
    org_id,
    activity_date,
    session_id,
    tag_name,
    fetched_at
from {{ source('platform', 'session_tags') }}
