select
    org_id,
    activity_date,
    coalesce(nullif(event, ''), '(unnamed)') as hook_event,
    matcher,
    command,
    count_value as invocations,
    fetched_at
from {{ source('platform', 'tools_hooks') }}
