-- Fields that were sent on each of 14 days, and not since: they may have a new
-- name. This is a warning for three days; the missing values are NULL.
{{ config(severity='warn', store_failures=true) }}

{% set fields = [
    ['tokens', 'stg_platform__tokens_days', [
        'billable_tokens', 'input_tokens', 'output_tokens',
    ]],
    ['tools', 'stg_platform__tools_days', [
        'tool_calls', 'skills_invocations', 'slash_commands_invocations',
        'hooks_invocations',
    ]],
    ['activity', 'stg_platform__activity_days', [
        'daily_active_users', 'weekly_active_users', 'monthly_active_users',
        'sessions', 'messages', 'user_messages',
    ]],
    ['productivity', 'stg_platform__productivity_days', [
        'files_created', 'files_edited', 'git_commits', 'git_prs_created',
    ]],
    ['users', 'int_user_day_totals', [
        'billable_tokens', 'tool_calls', 'sessions', 'messages',
        'user_messages',
    ]],
] %}

with

served as (

    {% for resource, source_model, names in fields %}
    select
        '{{ resource }}' as resource,
        names.field,
        org_id,
        activity_date,
        case names.field
            {% for name in names %}
            when '{{ name }}' then case when {{ name }} is null then 0 else 1 end
            {% endfor %}
        end as is_sent
    from {{ ref(source_model) }}
    cross join (
        {% for name in names %}
        select '{{ name }}' as field{{ ' union all' if not loop.last }}
        {% endfor %}
    ) as names
    {% if not loop.last %}

    union all

    {% endif %}
    {% endfor %}

),

aged as (

    select
        *,
        row_number() over (
            partition by resource, field, org_id
            order by activity_date desc
        ) as age
    from served

),

last_sent as (

    select
        resource,
        field,
        org_id,
        min(age) as age,
        max(activity_date) as last_date
    from aged
    where is_sent = 1
    group by 1, 2, 3

),

final as (

    select
        resource,
        field,
        org_id,
        last_sent.last_date
    from last_sent
    inner join aged using (resource, field, org_id)
    where
        last_sent.age between 2 and {{ var('stopped_days') }} + 1
        and aged.age - last_sent.age between 0 and {{ var('steady_days') }} - 1
    group by 1, 2, 3, 4
    having sum(aged.is_sent) = {{ var('steady_days') }}

)

select * from final
