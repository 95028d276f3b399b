-- A table: what reads it joins it with itself.
--
-- Each check: its name, how `actual` must stand to `expected`, what they are of
-- int_reconciliation_days, and of shares what is no difference yet. Of
-- counts the difference is taken before they become doubles, so that 1 in
-- 9007199254740993 is not lost.
{{ config(materialized='table') }}

{% set count_checks = [
    [
        'by_model_billable_tokens',
        'equal',
        'header_billable_tokens',
        'models_billable_tokens',
    ],
    [
        'by_model_input_tokens',
        'equal',
        'header_input_tokens',
        'models_input_tokens',
    ],
    [
        'by_model_output_tokens',
        'equal',
        'header_output_tokens',
        'models_output_tokens',
    ],
    [
        'by_user_billable_tokens',
        'equal',
        'header_billable_tokens',
        'users_billable_tokens',
    ],
    [
        'by_user_input_tokens',
        'equal',
        'header_input_tokens',
        'users_input_tokens',
    ],
    [
        'by_user_output_tokens',
        'equal',
        'header_output_tokens',
        'users_output_tokens',
    ],
    [
        'by_user_by_model_billable_tokens',
        'equal',
        'users_billable_tokens',
        'user_models_billable_tokens',
    ],
    [
        'by_user_by_model_input_tokens',
        'equal',
        'users_input_tokens',
        'user_models_input_tokens',
    ],
    [
        'by_user_by_model_output_tokens',
        'equal',
        'users_output_tokens',
        'user_models_output_tokens',
    ],
    ['by_tool_invocations', 'equal', 'header_tool_calls', 'tools_invocations'],
    ['skills_by_name_count', 'equal', 'header_skills', 'skills_count'],
    [
        'slash_commands_by_name_count',
        'equal',
        'header_slash_commands',
        'commands_count',
    ],
    ['hooks_by_event_count', 'equal', 'header_hooks', 'hooks_count'],
    [
        'tokens_by_model_billable_tokens',
        'equal',
        'models_billable_tokens',
        'grouped_billable_tokens',
    ],
    [
        'tokens_by_model_input_tokens',
        'equal',
        'models_input_tokens',
        'grouped_input_tokens',
    ],
    [
        'tokens_by_model_output_tokens',
        'equal',
        'models_output_tokens',
        'grouped_output_tokens',
    ],
    [
        'tools_by_name_tool_calls',
        'equal',
        'tools_invocations',
        'grouped_tool_calls',
    ],
    [
        'activity_by_client_daily_active_users',
        'equal',
        'clients_users',
        'grouped_clients_users',
    ],
    [
        'users_billable_tokens',
        'equal',
        'header_billable_tokens',
        'rows_billable_tokens',
    ],
    ['users_tool_calls', 'equal', 'header_tool_calls', 'rows_tool_calls'],
    [
        'users_files_created',
        'equal',
        'header_files_created',
        'rows_files_created',
    ],
    ['users_files_edited', 'equal', 'header_files_edited', 'rows_files_edited'],
    ['users_git_commits', 'equal', 'header_git_commits', 'rows_git_commits'],
    [
        'users_git_prs_created',
        'equal',
        'header_git_prs_created',
        'rows_git_prs_created',
    ],
    ['users_sessions', 'equal', 'header_sessions', 'rows_sessions'],
    ['users_messages', 'equal', 'header_messages', 'rows_messages'],
    [
        'users_user_messages',
        'equal',
        'header_user_messages',
        'rows_user_messages',
    ],
    ['users_skill_calls', 'equal', 'header_skills', 'rows_skill_calls'],
    [
        'users_slash_commands',
        'equal',
        'header_slash_commands',
        'rows_slash_commands',
    ],
    ['users_hooks', 'equal', 'header_hooks', 'rows_hooks'],
    ['users_mcp_calls', 'equal', 'servers_invocations', 'rows_mcp_calls'],
    ['users_distinct', 'equal', 'header_daily', 'rows_users'],
    ['clients_largest', 'at_most', 'header_daily', 'largest_client_users'],
    ['clients_sum', 'at_least', 'header_daily', 'client_memberships'],
    ['daily_active_users', 'at_most', 'header_weekly', 'header_daily'],
    ['weekly_active_users', 'at_most', 'header_monthly', 'header_weekly'],
] %}

{% set share_checks = [
    ['autonomy_level_shares', 'equal', 'whole', 'level_shares', 'rounding'],
    [
        'unparsed_tool_calls_28d',
        'at_most',
        'usual_unparsed',
        'unparsed_share',
        'chance',
    ],
] %}

with

days as (

    select
        *,
        cast(1 as double) as whole,
        cast(0.01 as double) as rounding,
        cast(0.00006 as double) as usual_unparsed,
        case
            when known_tool_calls_28d > 0
            then 4 * sqrt(cast(0.00006 as double) / known_tool_calls_28d)
        end as chance
    from {{ ref('int_reconciliation_days') }}

),

counts as (

    {% for check in count_checks %}
    select
        '{{ check[0] }}' as check_name,
        org_id,
        activity_date,
        '{{ check[1] }}' as comparison,
        cast({{ check[2] }} as decimal(38, 6)) as expected,
        cast({{ check[3] }} as decimal(38, 6)) as actual
    from days
    {% if not loop.last %}

    union all

    {% endif %}
    {% endfor %}

),

shares as (

    {% for check in share_checks %}
    select
        '{{ check[0] }}' as check_name,
        org_id,
        activity_date,
        '{{ check[1] }}' as comparison,
        {{ check[2] }} as expected,
        {{ check[3] }} as actual,
        {{ check[4] }} as tolerance
    from days
    {% if not loop.last %}

    union all

    {% endif %}
    {% endfor %}

),

sides as (

    select
        check_name,
        org_id,
        activity_date,
        comparison,
        cast(expected as double) as expected,
        cast(actual as double) as actual,
        cast(actual - expected as double) as distance
    from counts
    where expected is not null or actual is not null

    union all

    select
        check_name,
        org_id,
        activity_date,
        comparison,
        expected,
        actual,
        case
            when abs(actual - expected) <= tolerance then 0
            else actual - expected
        end as distance
    from shares
    where actual is not null

),

-- No parts add up to nothing: 0 on one side wants none on the other.
completed as (

    select
        check_name,
        org_id,
        activity_date,
        comparison,
        coalesce(expected, case when actual = 0 then 0 end) as expected,
        coalesce(actual, case when expected = 0 then 0 end) as actual,
        coalesce(
            distance, case when coalesce(expected, actual) = 0 then 0 end
        ) as distance
    from sides

),

final as (

    select
        check_name,
        org_id,
        activity_date,
        comparison,
        expected,
        actual,
        case
            when comparison = 'at_most' and distance < 0 then 0
            when comparison = 'at_least' and distance > 0 then 0
            else distance
        end as difference
    from completed

)

select * from final
