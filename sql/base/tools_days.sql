-- One row per org and day of `tools`.
with

days as (

    select
        org_id,
        activity_date,
        page,
        ordinal,
        read_item(item, '{
            "tool_calls": "VARCHAR",
            "mcp_users_with_mcp": "VARCHAR",
            "skills_invocations": "VARCHAR",
            "slash_commands_invocations": "VARCHAR",
            "hooks_invocations": "VARCHAR",
            "web_users": "VARCHAR",
            "autonomy_ratio_avg": "VARCHAR",
            "autonomy_ratio_p50": "VARCHAR",
            "autonomy_ratio_p90": "VARCHAR",
            "tool_calls_per_session_avg": "VARCHAR",
            "user_turns_per_session_avg": "VARCHAR"
        }') as day,
        fetched_at
    from raw

),

final as (

    select
        org_id,
        activity_date,
        to_count(day.tool_calls) as tool_calls,
        to_count(day.mcp_users_with_mcp) as mcp_users_with_mcp,
        to_count(day.skills_invocations) as skills_invocations,
        to_count(day.slash_commands_invocations) as slash_commands_invocations,
        to_count(day.hooks_invocations) as hooks_invocations,
        to_count(day.web_users) as web_users,
        to_ratio(day.autonomy_ratio_avg) as autonomy_ratio_avg,
        to_ratio(day.autonomy_ratio_p50) as autonomy_ratio_p50,
        to_ratio(day.autonomy_ratio_p90) as autonomy_ratio_p90,
        to_ratio(day.tool_calls_per_session_avg) as tool_calls_per_session_avg,
        to_ratio(day.user_turns_per_session_avg) as user_turns_per_session_avg,
        fetched_at
    from days
    semi join newest_rows() using (org_id, activity_date, page, ordinal)

)

select * from final
