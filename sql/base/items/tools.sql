-- The day as `tools` served it last.
with

served as (

    select
        org_id,
        activity_date,
        {'page': page, 'ordinal': ordinal} as place,
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
            "user_turns_per_session_avg": "VARCHAR",
            "by_tool": [{"tool": "VARCHAR", "invocations": "VARCHAR"}],
            "mcp_by_server": [{"server": "VARCHAR", "invocations": "VARCHAR"}],
            "skills_by_name": [{"name": "VARCHAR", "count": "VARCHAR"}],
            "slash_commands_by_name": [{"name": "VARCHAR", "count": "VARCHAR"}],
            "hooks_by_event": [{
                "event": "VARCHAR",
                "matcher": "VARCHAR",
                "command": "VARCHAR",
                "count": "VARCHAR"
            }],
            "tool_autonomy_level_ratio": "MAP(VARCHAR, VARCHAR)"
        }') as item,
        fetched_at
    from raw

),

final as (

    select
        *,
        '' as row_key
    from served

)

select * from final
