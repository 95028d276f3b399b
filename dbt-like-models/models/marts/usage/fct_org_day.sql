select
    org_id,
    activity_date,
    activity.daily_active_users,
    activity.weekly_active_users,
    activity.monthly_active_users,
    activity.sessions,
    activity.messages,
    activity.user_messages,
    tools.tool_calls,
    tokens.billable_tokens,
    tokens.input_tokens,
    tokens.output_tokens,
    tokens.cache_read_tokens,
    tokens.cache_write_tokens,
    productivity.files_created,
    productivity.files_edited,
    productivity.git_commits,
    productivity.git_prs_created,
    tools.mcp_users,
    tools.web_users,
    tools.skills_invocations,
    tools.slash_commands_invocations,
    tools.hooks_invocations,
    tools.autonomy_ratio_avg,
    tools.autonomy_ratio_p50,
    tools.autonomy_ratio_p90,
    tools.tool_calls_per_session_avg,
    tools.user_turns_per_session_avg
from {{ ref('stg_platform__activity_days') }} as activity
full outer join {{ ref('stg_platform__tools_days') }} as tools
    using (org_id, activity_date)
full outer join {{ ref('stg_platform__tokens_days') }} as tokens
    using (org_id, activity_date)
full outer join {{ ref('stg_platform__productivity_days') }} as productivity
    using (org_id, activity_date)
