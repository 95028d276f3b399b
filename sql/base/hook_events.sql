-- One row per org, day and event of `hook_events`; a later one wins. A session
-- that ends by reason of `error` or `other` has failed.
select
    org_id,
    activity_date,
    nullif(item.event_id, '') as event_id,
    nullif(item.input.hook_event_name, '') as hook_event,
    nullif(item.input.session_id, '') as session_id,
    to_time(item.recorded_at) as recorded_at,
    nullif(item.input.cwd, '') as cwd,
    item.input.message,
    nullif(item.input.reason, '') as reason,
    case
        when item.input.hook_event_name = 'SessionEnd'
        then nullif(item.input.reason, '') in ('error', 'other')
    end as is_failure,
    fetched_at
from parsed
