select
    org_id,
    activity_date,
    coalesce(group_key, '') as spelling,
    tool_key,
    is_clean_name,
    tool_calls as invocations,
    fetched_at
from {{ source('platform', 'tools_by_name') }}
