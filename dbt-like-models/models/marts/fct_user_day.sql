with

users as (

    select * from {{ ref('stg_platform__users') }}

),

identified as (

    select
        org_id,
        activity_date,
        user_id,
        user_email,
        tool_calls,
        billable_tokens,
        files_created,
        files_edited,
        git_commits,
        git_prs_created,
        mcp_calls,
        skill_calls,
        slash_commands,
        hooks,
        sessions,
        messages,
        user_messages,
        assistant_messages,
        primary_model,
        primary_model_tier,
        autonomy_ratio,
        delegation_level
    from users
    where user_id != '(unattributed)'

),

unidentified as (

    select
        org_id,
        activity_date,
        '(unattributed)' as user_id,
        cast(null as string) as user_email,
        cast(sum(tool_calls) as bigint) as tool_calls,
        cast(sum(billable_tokens) as bigint) as billable_tokens,
        cast(sum(files_created) as bigint) as files_created,
        cast(sum(files_edited) as bigint) as files_edited,
        cast(sum(git_commits) as bigint) as git_commits,
        cast(sum(git_prs_created) as bigint) as git_prs_created,
        cast(sum(mcp_calls) as bigint) as mcp_calls,
        cast(sum(skill_calls) as bigint) as skill_calls,
        cast(sum(slash_commands) as bigint) as slash_commands,
        cast(sum(hooks) as bigint) as hooks,
        cast(sum(sessions) as bigint) as sessions,
        cast(sum(messages) as bigint) as messages,
        cast(sum(user_messages) as bigint) as user_messages,
        cast(sum(assistant_messages) as bigint) as assistant_messages,
        cast(null as string) as primary_model,
        cast(null as string) as primary_model_tier,
        cast(null as double) as autonomy_ratio,
        cast(null as string) as delegation_level
    from users
    where user_id = '(unattributed)'
    group by 1, 2

),

final as (

    select * from identified

    union all

    select * from unidentified

)

select * from final
