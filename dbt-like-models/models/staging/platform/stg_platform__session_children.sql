select
    org_id,
    activity_date,
    session_id,
    child_session_id,
    fetched_at
from {{ source('platform', 'session_children') }}
