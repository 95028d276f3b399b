-- Users of a day of `users`; a later one wins. Rows that name no user cannot be
-- distinguished: all of them are kept.
with

served as (

    select
        org_id,
        activity_date,
        day_digest,
        {'page': page, 'ordinal': ordinal} as place,
        read_item(item, '{
            "user_id": "VARCHAR",
            "user_email": "VARCHAR",
            "tool_calls": "VARCHAR",
            "billable_tokens": "VARCHAR",
            "files_created": "VARCHAR",
            "files_edited": "VARCHAR",
            "git_commits": "VARCHAR",
            "git_prs_created": "VARCHAR",
            "mcp_calls": "VARCHAR",
            "skill_calls": "VARCHAR",
            "slash_commands": "VARCHAR",
            "hooks": "VARCHAR",
            "sessions": "VARCHAR",
            "messages": "VARCHAR",
            "user_messages": "VARCHAR",
            "assistant_messages": "VARCHAR",
            "primary_model": "VARCHAR",
            "primary_model_tier": "VARCHAR",
            "autonomy_ratio": "VARCHAR",
            "delegation_level": "VARCHAR",
            "languages": ["VARCHAR"]
        }') as item,
        fetched_at
    from raw

),

final as (

    select
        *,
        nullif(item.user_id, '') as row_key
    from served

)

select * from final
