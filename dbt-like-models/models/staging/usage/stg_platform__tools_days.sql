select
    org_id,
    activity_date,
    tool_calls,
    mcp_users_with_mcp as mcp_users,
    skills_invocations,
    slash_commands_invocations,
    hooks_invocations,
    web_users,
    autonomy_ratio_avg,
    autonomy_ratio_p50,
    autonomy_ratio_p90,
    tool_calls_per_session_avg,
    user_turns_per_session_avg,
    fetched_at
from {{ source('platform', 'tools_days') }}
