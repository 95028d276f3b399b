select
    org_id,
    event_id,
    hook_event,
    session_id,
    recorded_at,
    cast(recorded_at as date) as event_date,
    cwd,
    message,
    reason,
    is_failure
from (
    {{ last_landed('stg_platform__hook_events', ['event_id']) }}
) as events
