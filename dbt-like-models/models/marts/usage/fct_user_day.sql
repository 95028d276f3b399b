-- Built by whole days: see macros/incremental.sql.
{{
    config(
        materialized='incremental',
        unique_key=['org_id', 'activity_date'],
        pre_hook=[
            "{{ delete_outdated_days('fct_user_day', 'int_user_day_versions') }}",
            "{{ clear_recorded_days('fct_user_day') }}",
            "{{ record_days('fct_user_day', 'int_user_day_versions') }}"
        ]
    )
}}

{% set metrics = [
    'tool_calls', 'billable_tokens', 'files_created', 'files_edited',
    'git_commits', 'git_prs_created', 'mcp_calls', 'skill_calls',
    'slash_commands', 'hooks', 'sessions', 'messages', 'user_messages',
    'assistant_messages',
] %}

with

users as (

    select users.*
    from {{ ref('stg_platform__users') }} as users
    inner join (
        {{ due('int_user_day_versions', ['org_id', 'activity_date']) }}
    ) as due_days using (org_id, activity_date)

),

identified as (

    select
        org_id,
        activity_date,
        user_id,
        user_email,
        {% for metric in metrics %}
        {{ metric }},
        {% endfor %}
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
        {% for metric in metrics %}
        {{ sum_of_metric(metric) }} as {{ metric }},
        {% endfor %}
        cast(null as string) as primary_model,
        cast(null as string) as primary_model_tier,
        cast(null as double) as autonomy_ratio,
        cast(null as string) as delegation_level
    from users
    where user_id = '(unattributed)'
    group by 1, 2

),

all_users as (

    select * from identified

    union all

    select * from unidentified

),

final as (

    select
        *,
        {{ is_any_above_zero(metrics) }} as is_active
    from all_users

)

select * from final
