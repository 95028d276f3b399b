-- One row per org, day and group of `tools_by_name`.
select
    org_id,
    activity_date,
    item.group_key,
    tool_key(item.group_key) as tool_key,
    is_tool_name(item.group_key) as is_clean_name,
    to_count(item.tool_calls) as tool_calls,
    fetched_at
from parsed
