-- One row per org, day and user of `users`; the later of two stands. Rows that
-- name no user cannot be told apart: all of them are kept.
with

entries as (

    select
        org_id,
        activity_date,
        page,
        ordinal,
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
            "delegation_level": "VARCHAR"
        }') as entry,
        md5_number_lower(item) as row_digest,
        fetched_at
    from raw

),

typed as (

    select
        org_id,
        activity_date,
        page,
        ordinal,
        nullif(entry.user_id, '') as user_id,
        nullif(entry.user_email, '') as user_email,
        to_count(entry.tool_calls) as tool_calls,
        to_credits(entry.billable_tokens) as billable_tokens,
        to_count(entry.files_created) as files_created,
        to_count(entry.files_edited) as files_edited,
        to_count(entry.git_commits) as git_commits,
        to_count(entry.git_prs_created) as git_prs_created,
        to_count(entry.mcp_calls) as mcp_calls,
        to_count(entry.skill_calls) as skill_calls,
        to_count(entry.slash_commands) as slash_commands,
        to_count(entry.hooks) as hooks,
        to_count(entry.sessions) as sessions,
        to_count(entry.messages) as messages,
        to_count(entry.user_messages) as user_messages,
        to_count(entry.assistant_messages) as assistant_messages,
        entry.primary_model,
        entry.primary_model_tier,
        to_ratio(entry.autonomy_ratio) as autonomy_ratio,
        entry.delegation_level,
        row_digest,
        fetched_at
    from entries

),

kept as (

    select * exclude (page, ordinal) from typed
    qualify user_id is null or row_number() over (
        partition by org_id, activity_date, user_id
        order by page desc, ordinal desc
    ) = 1

),

final as (

    select
        * exclude (row_digest, fetched_at),
        digest_text(sum(row_digest) over (
            partition by org_id, activity_date
        )) as day_digest,
        fetched_at
    from kept

)

select * from final
