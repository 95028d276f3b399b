with

activity as (

    select * from {{ ref('stg_platform__activity_days') }}

),

tools as (

    select * from {{ ref('stg_platform__tools_days') }}

),

tokens as (

    select * from {{ ref('stg_platform__tokens_days') }}

),

productivity as (

    select * from {{ ref('stg_platform__productivity_days') }}

),

days as (

    select org_id, activity_date from activity

    union

    select org_id, activity_date from tools

    union

    select org_id, activity_date from tokens

    union

    select org_id, activity_date from productivity

),

final as (

    select
        days.org_id,
        days.activity_date,
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
    from days
    left join activity
        on days.org_id = activity.org_id
        and days.activity_date = activity.activity_date
    left join tools
        on days.org_id = tools.org_id
        and days.activity_date = tools.activity_date
    left join tokens
        on days.org_id = tokens.org_id
        and days.activity_date = tokens.activity_date
    left join productivity
        on days.org_id = productivity.org_id
        and days.activity_date = productivity.activity_date

)

select * from final
