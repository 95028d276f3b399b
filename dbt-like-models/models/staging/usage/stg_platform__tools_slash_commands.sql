select
    org_id,
    activity_date,
    coalesce(nullif(name, ''), '(unnamed)') as command_name,
    count_value as invocations,
    fetched_at
from {{ source('platform', 'tools_slash_commands') }}
