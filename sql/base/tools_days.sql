-- One row per org and day of `tools`.
select
    org_id,
    activity_date,
    to_count(item.tool_calls) as tool_calls,
    to_count(item.mcp_users_with_mcp) as mcp_users_with_mcp,
    to_count(item.skills_invocations) as skills_invocations,
    to_count(item.slash_commands_invocations) as slash_commands_invocations,
    to_count(item.hooks_invocations) as hooks_invocations,
    to_count(item.web_users) as web_users,
    to_ratio(item.autonomy_ratio_avg) as autonomy_ratio_avg,
    to_ratio(item.autonomy_ratio_p50) as autonomy_ratio_p50,
    to_ratio(item.autonomy_ratio_p90) as autonomy_ratio_p90,
    to_ratio(item.tool_calls_per_session_avg) as tool_calls_per_session_avg,
    to_ratio(item.user_turns_per_session_avg) as user_turns_per_session_avg,
    fetched_at
from parsed
