with

token_days as (

    select * from {{ ref('stg_platform__tokens_days') }}

),

token_parts as (

    select * from {{ ref('int_token_parts_summed') }}

),

grouped_models as (

    select * from {{ ref('stg_platform__tokens_by_model') }}

),

tool_days as (

    select * from {{ ref('stg_platform__tools_days') }}

),

tool_parts as (

    select * from {{ ref('int_tool_parts_summed') }}

),

named_tools as (

    select * from {{ ref('fct_tool_day') }}

),

activity_days as (

    select * from {{ ref('stg_platform__activity_days') }}

),

clients as (

    select * from {{ ref('stg_platform__activity_clients') }}

),

grouped_clients as (

    select * from {{ ref('stg_platform__activity_by_client') }}

),

clients_chosen as (

    select * from {{ ref('fct_client_day') }}

),

productivity_days as (

    select * from {{ ref('stg_platform__productivity_days') }}

),

user_days as (

    select * from {{ ref('int_user_days_summed') }}

),

grouped_model_sums as (

    select
        org_id,
        activity_date,
        {{ sum_of_credits('billable_tokens') }} as billable_tokens,
        {{ sum_of_counts('input_tokens') }} as input_tokens,
        {{ sum_of_counts('output_tokens') }} as output_tokens
    from grouped_models
    group by 1, 2

),

client_sums as (

    select
        org_id,
        activity_date,
        {{ sum_of_counts('daily_active_users') }} as memberships
    from clients
    group by 1, 2

),

grouped_client_sums as (

    select
        org_id,
        activity_date,
        {{ sum_of_counts('daily_active_users') }} as memberships
    from grouped_clients
    group by 1, 2

),

client_bounds as (

    select
        org_id,
        activity_date,
        max(daily_active_users) as largest,
        {{ sum_of_counts('daily_active_users') }} as memberships
    from clients_chosen
    group by 1, 2

),

unparsed_days as (

    select
        org_id,
        activity_date,
        sum(
            case when tool_name = '(unparsed)' then invocations else 0 end
        ) as unparsed,
        sum(invocations) as invocations
    from named_tools
    where tool_name != '(unattributed)'
    group by 1, 2

),

trailing_calls as (

    select
        org_id,
        activity_date,
        sum(cast(unparsed as double)) over (
            partition by org_id
            order by activity_date
            range between interval 27 days preceding and current row
        ) as unparsed,
        try_cast(nullif(sum(invocations) over (
            partition by org_id
            order by activity_date
            range between interval 27 days preceding and current row
        ), 0) as bigint) as invocations
    from unparsed_days

),

known_days as (

    select org_id, activity_date from token_days

    union

    select org_id, activity_date from grouped_model_sums

    union

    select org_id, activity_date from tool_days

    union

    select org_id, activity_date from tool_parts

    union

    select org_id, activity_date from activity_days

    union

    select org_id, activity_date from grouped_client_sums

    union

    select org_id, activity_date from productivity_days

    union

    select org_id, activity_date from user_days

),

final as (

    select
        known_days.org_id,
        known_days.activity_date,
        token_days.billable_tokens as header_billable_tokens,
        token_days.input_tokens as header_input_tokens,
        token_days.output_tokens as header_output_tokens,
        token_parts.models_billable_tokens,
        token_parts.models_input_tokens,
        token_parts.models_output_tokens,
        token_parts.users_billable_tokens,
        token_parts.users_input_tokens,
        token_parts.users_output_tokens,
        token_parts.user_models_billable_tokens,
        token_parts.user_models_input_tokens,
        token_parts.user_models_output_tokens,
        grouped_model_sums.billable_tokens as grouped_billable_tokens,
        grouped_model_sums.input_tokens as grouped_input_tokens,
        grouped_model_sums.output_tokens as grouped_output_tokens,
        tool_days.tool_calls as header_tool_calls,
        tool_days.skills_invocations as header_skills,
        tool_days.slash_commands_invocations as header_slash_commands,
        tool_days.hooks_invocations as header_hooks,
        tool_parts.tools_invocations,
        tool_parts.grouped_tool_calls,
        tool_parts.servers_invocations,
        tool_parts.skills_count,
        tool_parts.commands_count,
        tool_parts.hooks_count,
        tool_parts.level_shares,
        trailing_calls.invocations as known_tool_calls_28d,
        trailing_calls.unparsed / trailing_calls.invocations as unparsed_share,
        activity_days.daily_active_users as header_daily,
        activity_days.weekly_active_users as header_weekly,
        activity_days.monthly_active_users as header_monthly,
        activity_days.sessions as header_sessions,
        activity_days.messages as header_messages,
        activity_days.user_messages as header_user_messages,
        client_sums.memberships as clients_users,
        grouped_client_sums.memberships as grouped_clients_users,
        client_bounds.largest as largest_client_users,
        client_bounds.memberships as client_memberships,
        productivity_days.files_created as header_files_created,
        productivity_days.files_edited as header_files_edited,
        productivity_days.git_commits as header_git_commits,
        productivity_days.git_prs_created as header_git_prs_created,
        user_days.users as rows_users,
        user_days.billable_tokens as rows_billable_tokens,
        user_days.tool_calls as rows_tool_calls,
        user_days.files_created as rows_files_created,
        user_days.files_edited as rows_files_edited,
        user_days.git_commits as rows_git_commits,
        user_days.git_prs_created as rows_git_prs_created,
        user_days.sessions as rows_sessions,
        user_days.messages as rows_messages,
        user_days.user_messages as rows_user_messages,
        user_days.skill_calls as rows_skill_calls,
        user_days.slash_commands as rows_slash_commands,
        user_days.hooks as rows_hooks,
        user_days.mcp_calls as rows_mcp_calls
    from known_days
    left join token_days
        on known_days.org_id = token_days.org_id
        and known_days.activity_date = token_days.activity_date
    left join token_parts
        on known_days.org_id = token_parts.org_id
        and known_days.activity_date = token_parts.activity_date
    left join grouped_model_sums
        on known_days.org_id = grouped_model_sums.org_id
        and known_days.activity_date = grouped_model_sums.activity_date
    left join tool_days
        on known_days.org_id = tool_days.org_id
        and known_days.activity_date = tool_days.activity_date
    left join tool_parts
        on known_days.org_id = tool_parts.org_id
        and known_days.activity_date = tool_parts.activity_date
    left join trailing_calls
        on known_days.org_id = trailing_calls.org_id
        and known_days.activity_date = trailing_calls.activity_date
    left join activity_days
        on known_days.org_id = activity_days.org_id
        and known_days.activity_date = activity_days.activity_date
    left join client_sums
        on known_days.org_id = client_sums.org_id
        and known_days.activity_date = client_sums.activity_date
    left join grouped_client_sums
        on known_days.org_id = grouped_client_sums.org_id
        and known_days.activity_date = grouped_client_sums.activity_date
    left join client_bounds
        on known_days.org_id = client_bounds.org_id
        and known_days.activity_date = client_bounds.activity_date
    left join productivity_days
        on known_days.org_id = productivity_days.org_id
        and known_days.activity_date = productivity_days.activity_date
    left join user_days
        on known_days.org_id = user_days.org_id
        and known_days.activity_date = user_days.activity_date

)

select * from final
