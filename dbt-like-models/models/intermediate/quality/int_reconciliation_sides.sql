-- A table, because its reader joins it with itself. Differences of counts are
-- computed before the conversion to doubles, so that 1 in 9007199254740993 is
-- not lost.
{{ config(materialized='table') }}

{# How `actual` must compare with `expected`, each a column of a relation below. #}
{% set checks = [
    ['by_tool_invocations', 'equal', 'tool_days.tool_calls', 'tools.calls'],
    [
        'skills_by_name_count', 'equal',
        'tool_days.skills_invocations', 'skills.calls',
    ],
    [
        'slash_commands_by_name_count', 'equal',
        'tool_days.slash_commands_invocations', 'slash_commands.calls',
    ],
    [
        'hooks_by_event_count', 'equal',
        'tool_days.hooks_invocations', 'hooks.calls',
    ],
    ['tools_by_name_tool_calls', 'equal', 'tools.calls', 'by_name.calls'],
    [
        'activity_by_client_daily_active_users', 'equal',
        'activity_clients.memberships', 'activity_by_client.memberships',
    ],
    [
        'users_skill_calls', 'equal',
        'tool_days.skills_invocations', 'user_days.skill_calls',
    ],
    [
        'users_slash_commands', 'equal',
        'tool_days.slash_commands_invocations', 'user_days.slash_commands',
    ],
    ['users_hooks', 'equal', 'tool_days.hooks_invocations', 'user_days.hooks'],
    ['users_mcp_calls', 'equal', 'mcp_servers.calls', 'user_days.mcp_calls'],
    [
        'users_distinct', 'equal',
        'activity_days.daily_active_users', 'user_days.users',
    ],
    [
        'clients_largest', 'at_most',
        'activity_days.daily_active_users', 'client_bounds.largest',
    ],
    [
        'clients_sum', 'at_least',
        'activity_days.daily_active_users', 'client_bounds.memberships',
    ],
    [
        'daily_active_users', 'at_most',
        'activity_days.weekly_active_users', 'activity_days.daily_active_users',
    ],
    [
        'weekly_active_users', 'at_most',
        'activity_days.monthly_active_users', 'activity_days.weekly_active_users',
    ],
] %}

{# An equation for each of several metrics, whose name ends the other names. #}
{% set tokens = ['billable_tokens', 'input_tokens', 'output_tokens'] %}
{% set messages = ['sessions', 'messages', 'user_messages'] %}
{% set files = [
    'files_created', 'files_edited', 'git_commits', 'git_prs_created',
] %}
{% set equations = [
    ['by_model_', 'token_days.', 'token_parts.models_', tokens],
    ['by_user_', 'token_days.', 'token_parts.users_', tokens],
    [
        'by_user_by_model_',
        'token_parts.users_', 'token_parts.user_models_', tokens,
    ],
    ['tokens_by_model_', 'token_parts.models_', 'grouped_models.', tokens],
    ['users_', 'token_days.', 'user_days.', ['billable_tokens']],
    ['users_', 'tool_days.', 'user_days.', ['tool_calls']],
    ['users_', 'activity_days.', 'user_days.', messages],
    ['users_', 'productivity_days.', 'user_days.', files],
] %}

with

{% for relation, model in [
    ['token_days', 'stg_platform__tokens_days'],
    ['token_parts', 'int_token_part_totals'],
    ['tool_days', 'stg_platform__tools_days'],
    ['activity_days', 'stg_platform__activity_days'],
    ['productivity_days', 'stg_platform__productivity_days'],
    ['user_days', 'int_user_day_totals'],
] %}
{{ relation }} as (

    select * from {{ ref(model) }}

),

{% endfor %}
grouped_models as (

    select
        org_id,
        activity_date,
        {{ sums_of_tokens() }}
    from {{ ref('stg_platform__tokens_by_model') }}
    group by 1, 2

),

{% for part in [
    'tools', 'by_name', 'mcp_servers', 'skills', 'slash_commands', 'hooks',
] %}
{{ part }} as (

    select
        org_id,
        activity_date,
        {{ sum_of_counts('invocations') }} as calls
    from {{ ref('stg_platform__tools_' ~ part) }}
    group by 1, 2

),

{% endfor %}
{% for part in ['activity_clients', 'activity_by_client'] %}
{{ part }} as (

    select
        org_id,
        activity_date,
        {{ sum_of_counts('daily_active_users') }} as memberships
    from {{ ref('stg_platform__' ~ part) }}
    group by 1, 2

),

{% endfor %}
client_bounds as (

    select
        org_id,
        activity_date,
        max(daily_active_users) as largest,
        case
            when count(*) = count(daily_active_users)
            then {{ sum_of_counts('daily_active_users') }}
        end as memberships
    from {{ ref('fct_client_day') }}
    group by 1, 2

),

checks as (

    {% for check_name, comparison, expected, actual in checks %}
    select '{{ check_name }}' as check_name, '{{ comparison }}' as comparison

    union all

    {% endfor %}
    {% for check_name, expected, actual, metrics in equations %}
    {% set is_last_equation = loop.last %}
    {% for metric in metrics %}
    select '{{ check_name ~ metric }}' as check_name, 'equal' as comparison
    {% if not (is_last_equation and loop.last) %}

    union all

    {% endif %}
    {% endfor %}
    {% endfor %}

),

-- The numbers of a day are joined once: with a join for each check, a thousand
-- organisations would take more than a gigabyte.
counts as (

    select
        checks.check_name,
        org_id,
        activity_date,
        checks.comparison,
        {% for side in ['expected', 'actual'] %}
        case checks.check_name
            {% for check_name, comparison, expected, actual in checks %}
            when '{{ check_name }}'
            then cast(
                {{ expected if side == 'expected' else actual }}
                as decimal(38, 6)
            )
            {% endfor %}
            {% for check_name, expected, actual, metrics in equations %}
            {% for metric in metrics %}
            when '{{ check_name ~ metric }}'
            then cast(
                {{ (expected if side == 'expected' else actual) ~ metric }}
                as decimal(38, 6)
            )
            {% endfor %}
            {% endfor %}
        end as {{ side }}{{ ',' if not loop.last }}
        {% endfor %}
    from token_days
    {% for relation in [
        'token_parts', 'tool_days', 'activity_days', 'productivity_days',
        'user_days', 'grouped_models', 'tools', 'by_name', 'mcp_servers',
        'skills', 'slash_commands', 'hooks', 'activity_clients',
        'activity_by_client', 'client_bounds',
    ] %}
    full outer join {{ relation }} using (org_id, activity_date)
    {% endfor %}
    cross join checks

),

autonomy_levels as (

    select
        org_id,
        activity_date,
        {{ sum_of_shares('share') }} as shares
    from {{ ref('stg_platform__tools_autonomy_levels') }}
    group by 1, 2

),

named_calls as (

    select
        org_id,
        activity_date,
        sum(
            case when tool_name = '(unparsed)' then invocations else 0 end
        ) as unparsed,
        sum(invocations) as calls
    from {{ ref('fct_tool_day') }}
    where tool_name != '(unattributed)'
    group by 1, 2

),

trailing_calls as (

    select
        org_id,
        activity_date,
        sum(cast(unparsed as double)) over last_28_days as unparsed,
        try_cast(nullif(sum(calls) over last_28_days, 0) as bigint) as calls,
        cast({{ var('usual_unparsed_share') }} as double) as usual_share
    from named_calls
    window
        last_28_days as (
            partition by org_id
            order by activity_date
            range between interval 27 days preceding and current row
        )

),

-- For shares, a difference that rounding or chance explains does not count.
shares as (

    select
        'autonomy_level_shares' as check_name,
        org_id,
        activity_date,
        'equal' as comparison,
        cast(1 as double) as expected,
        shares as actual,
        cast({{ var('level_share_tolerance') }} as double) as tolerance
    from autonomy_levels

    union all

    select
        'unparsed_tool_calls_28d' as check_name,
        org_id,
        activity_date,
        'at_most' as comparison,
        usual_share as expected,
        unparsed / calls as actual,
        case
            when calls > 0
            then {{ var('unparsed_deviations') }} * sqrt(usual_share / calls)
        end as tolerance
    from trailing_calls

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

-- Parts that are absent add up to 0: if one side is 0, the other may be
-- missing.
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
