select
    org_id,
    activity_date,
    event_id,
    hook_event,
    session_id,
    recorded_at,
    cwd,
    message,
    reason,
    is_failure,
    fetched_at
from {{ source('platform', 'hook_events') }}
