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

-- One pass over each table: a pass for each column would open each of thousands
-- of files many times.
large_counts as (

    {% for table, columns in tables %}
    select
        '{{ table }}' as table_name,
        column_names.column_name,
        org_id,
        activity_date,
        case column_names.column_name
            {% for column in columns %}
            when '{{ column }}' then {{ column }}
            {% endfor %}
        end as value
    from {{ ref('stg_platform__' ~ table) }}
    cross join (
        {% for column in columns %}
        select '{{ column }}' as column_name
        {{- ' union all' if not loop.last }}
        {% endfor %}
    ) as column_names
    where
        {% for column in columns %}
        {{ 'or ' if not loop.first }}{{ column }} > 1000000
        or {{ column }} < -1000000
        {% endfor %}
    {% if not loop.last %}

    union all

    {% endif %}
    {% endfor %}

),

sums as (

    select
        table_name,
        column_name,
        org_id,
        max_by(activity_date, abs(cast(value as double))) as activity_date,
        max_by(value, abs(cast(value as double))) as largest,
        sum(abs(cast(value as double))) as total
    from large_counts
    where value > 1000000 or value < -1000000
    group by 1, 2, 3

),

final as (

    select * from sums
    where total > 9.2e18

)

select * from final
