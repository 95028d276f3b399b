-- Counts that are so large that sums over a history do not fit a BIGINT: such
-- sums are NULL. Of each organisation, table and column the day of the largest.
-- Sums of doubles are near enough: the bound is a little lower than a BIGINT's.
-- Counts up to a million are left out: 20 billion of them are less than that little.
{{ config(severity='warn', store_failures=true) }}

{% set tables = [
    [
        'stg_platform__users',
        [
            'tool_calls',
            'files_created',
            'files_edited',
            'git_commits',
            'git_prs_created',
            'mcp_calls',
            'skill_calls',
            'slash_commands',
            'hooks',
            'sessions',
            'messages',
            'user_messages',
            'assistant_messages',
        ],
    ],
    ['stg_platform__tokens_days', ['input_tokens', 'output_tokens']],
    ['stg_platform__tokens_models', ['input_tokens', 'output_tokens']],
    ['stg_platform__tokens_users', ['input_tokens', 'output_tokens']],
    ['stg_platform__tokens_user_models', ['input_tokens', 'output_tokens']],
    ['stg_platform__tokens_by_model', ['input_tokens', 'output_tokens']],
    [
        'stg_platform__activity_days',
        ['daily_active_users', 'sessions', 'messages', 'user_messages'],
    ],
    ['stg_platform__activity_clients', ['daily_active_users']],
    ['stg_platform__activity_by_client', ['daily_active_users']],
    [
        'stg_platform__tools_days',
        [
            'tool_calls',
            'skills_invocations',
            'slash_commands_invocations',
            'hooks_invocations',
        ],
    ],
    ['stg_platform__tools_tools', ['invocations']],
    ['stg_platform__tools_by_name', ['invocations']],
    ['stg_platform__tools_mcp_servers', ['invocations']],
    ['stg_platform__tools_skills', ['invocations']],
    ['stg_platform__tools_slash_commands', ['invocations']],
    ['stg_platform__tools_hooks', ['invocations']],
    [
        'stg_platform__productivity_days',
        ['files_created', 'files_edited', 'git_commits', 'git_prs_created'],
    ],
    ['stg_platform__productivity_languages', ['file_operations']],
    ['stg_platform__productivity_extensions', ['file_operations']],
    ['stg_platform__readiness_criteria', ['numerator', 'denominator']],
    ['stg_platform__sessions', ['message_count', 'assistant_active_ms']],
] %}

with

{% for table in tables %}
counts_{{ loop.index }} as (

    select * from {{ ref(table[0]) }}

),

{% endfor %}
sums as (

    {% for table in tables %}
    {% set first = loop.first %}
    {% set number = loop.index %}
    {% for column in table[1] %}
    {% if not (first and loop.first) %}
    union all

    {% endif %}
    select
        '{{ table[0] | replace('stg_platform__', '') }}' as table_name,
        '{{ column }}' as column_name,
        org_id,
        max_by(activity_date, abs(cast({{ column }} as double)))
            as activity_date,
        max_by({{ column }}, abs(cast({{ column }} as double))) as largest,
        sum(abs(cast({{ column }} as double))) as total
    from counts_{{ number }}
    where {{ column }} > 1000000 or {{ column }} < -1000000
    group by 1, 2, 3

    {% endfor %}
    {% endfor %}
),

final as (

    select * from sums
    where total > 9.2e18

)

select * from final
