with sums as (
    select
        cast(sum(tool_calls) as bigint) as tool_calls,
        cast(sum(reads) as bigint) as reads,
        cast(sum(edits) as bigint) as edits,
        cast(sum(executions) as bigint) as executions,
        cast(sum(mcp_calls) as bigint) as mcp_calls,
        count(*) filter (mcp_calls > 0) as mcp_users,
        cast(sum(skill_calls) as bigint) as skill_calls,
        cast(sum(slash_commands) as bigint) as slash_commands,
        cast(sum(hooks) as bigint) as hooks,
        count(*) filter (n % 10 < 3) as web_users,
        round(avg(tool_calls / user_messages), 4) as ratio_avg,
        round(median(tool_calls / user_messages), 4) as ratio_p50,
        round(quantile_cont(tool_calls / user_messages, 0.9), 4) as ratio_p90,
        round(sum(tool_calls) / sum(sessions), 4) as calls_per_session,
        round(sum(user_messages) / sum(sessions), 4) as turns_per_session
    from user_day
)

select
    1 as page,
    0 as ordinal,
    to_json({
        date: {{ day }},
        tool_calls: tool_calls,
        by_tool: [
            {tool: 'Read', invocations: reads},
            {tool: 'Edit', invocations: edits},
            {tool: 'Execute', invocations: executions},
            {tool: 'github___search_code', invocations: mcp_calls}
        ],
        mcp_users_with_mcp: mcp_users,
        mcp_by_server: [
            {server: 'GitHub', invocations: mcp_calls // 2},
            {server: 'github', invocations: mcp_calls - mcp_calls // 2}
        ],
        skills_invocations: skill_calls,
        skills_by_name: [{name: 'review', count: skill_calls}],
        slash_commands_invocations: slash_commands,
        slash_commands_by_name: [{name: '/clear', count: slash_commands}],
        hooks_invocations: hooks,
        hooks_by_event: [
            {event: 'Stop', matcher: '', command: 'notify.sh', count: hooks}
        ],
        web_users: web_users,
        autonomy_ratio_avg: ratio_avg,
        autonomy_ratio_p50: ratio_p50,
        autonomy_ratio_p90: ratio_p90,
        tool_calls_per_session_avg: calls_per_session,
        user_turns_per_session_avg: turns_per_session,
        tool_autonomy_level_ratio: {
            auto_high: 0.25,
            auto_medium: 0.25,
            auto_low: 0.25,
            manual: 0.25
        }
    }) as item
from sums
