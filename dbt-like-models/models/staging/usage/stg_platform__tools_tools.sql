select
    org_id,
    activity_date,
    coalesce(tool, '') as spelling,
    tool_key,
    is_clean_name,
    invocations,
    fetched_at
from {{ source('platform', 'tools_tools') }}
