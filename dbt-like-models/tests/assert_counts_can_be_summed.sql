-- Counts so large that their sums over a history do not fit a BIGINT and are
-- NULL. For each organisation, table and column: the day with the largest
-- count. Sums of doubles are accurate enough, because the bound is a little
-- lower than that of a BIGINT. Counts up to a million are left out: even 20
-- billion of them stay within that margin.
{{ config(severity='warn', store_failures=true) }}

{% set user_counts = [
    'tool_calls', 'files_created', 'files_edited', 'git_commits',
    'git_prs_created', 'mcp_calls', 'skill_calls', 'slash_commands', 'hooks',
    'sessions', 'messages', 'user_messages', 'assistant_messages',
] %}
{% set tool_counts = [
    'tool_calls', 'skills_invocations', 'slash_commands_invocations',
    'hooks_invocations',
] %}
{% set productivity_counts = [
    'files_created', 'files_edited', 'git_commits', 'git_prs_created',
] %}
{% set activity_counts = [
    'daily_active_users', 'sessions', 'messages', 'user_messages',
] %}
{% set tokens = ['input_tokens', 'output_tokens'] %}
{% set tables = [
    ['users', user_counts],
    ['tokens_days', tokens],
    ['tokens_models', tokens],
    ['tokens_users', tokens],
    ['tokens_user_models', tokens],
    ['tokens_by_model', tokens],
    ['activity_days', activity_counts],
    ['activity_clients', ['daily_active_users']],
    ['activity_by_client', ['daily_active_users']],
    ['tools_days', tool_counts],
    ['tools_tools', ['invocations']],
    ['tools_by_name', ['invocations']],
    ['tools_mcp_servers', ['invocations']],
    ['tools_skills', ['invocations']],
    ['tools_slash_commands', ['invocations']],
    ['tools_hooks', ['invocations']],
    ['productivity_days', productivity_counts],
    ['productivity_languages', ['file_operations']],
    ['productivity_extensions', ['file_operations']],
    ['readiness_criteria', ['numerator', 'denominator']],
    ['sessions', ['message_count', 'assistant_active_ms']],
] %}

with

sums as (

    {% for table, columns in tables %}
    {% set is_last_table = loop.last %}
    {% for column in columns %}
    select
        '{{ table }}' as table_name,
        '{{ column }}' as column_name,
        org_id,
        max_by(activity_date, abs(cast({{ column }} as double)))
            as activity_date,
        max_by({{ column }}, abs(cast({{ column }} as double))) as largest,
        sum(abs(cast({{ column }} as double))) as total
    from {{ ref('stg_platform__' ~ table) }}
    where {{ column }} > 1000000 or {{ column }} < -1000000
    group by 1, 2, 3
    {% if not (is_last_table and loop.last) %}

    union all

    {% endif %}
    {% endfor %}
    {% endfor %}

),

final as (

    select * from sums
    where total > 9.2e18

)

select * from final
