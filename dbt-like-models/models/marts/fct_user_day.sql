-- Made by whole days: days of another version than the one served are taken
-- out first, and what is served and not here is put in.
{{
    config(
        materialized='incremental',
        incremental_strategy='delete+insert',
        unique_key=['org_id', 'activity_date'],
        on_schema_change='fail',
        pre_hook=[
            "
            {% if is_incremental() %}
            {{ delete_other_versions(
                'fct_user_day',
                this,
                ref('int_fact_days'),
                ref('int_user_days_served')
            ) }}
            {% endif %}
            ",
            "{{ forget_days('fct_user_day', ref('int_fact_days')) }}",
            "
            {{ record_days(
                'fct_user_day',
                ref('int_fact_days'),
                ref('int_user_days_served')
            ) }}
            "
        ]
    )
}}

with

due_days as (

    select
        served.org_id,
        served.activity_date
    from {{ ref('int_user_days_served') }} as served
    {% if is_incremental() %}
    where
        not exists (
            select 1
            from {{ this }} as held
            where
                held.org_id = served.org_id
                and held.activity_date = served.activity_date
        )
    {% endif %}

),

users as (

    select users.*
    from {{ ref('stg_platform__users') }} as users
    inner join due_days
        on users.org_id = due_days.org_id
        and users.activity_date = due_days.activity_date

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
        {{ sum_of_counts('tool_calls') }} as tool_calls,
        {{ sum_of_credits('billable_tokens') }} as billable_tokens,
        {{ sum_of_counts('files_created') }} as files_created,
        {{ sum_of_counts('files_edited') }} as files_edited,
        {{ sum_of_counts('git_commits') }} as git_commits,
        {{ sum_of_counts('git_prs_created') }} as git_prs_created,
        {{ sum_of_counts('mcp_calls') }} as mcp_calls,
        {{ sum_of_counts('skill_calls') }} as skill_calls,
        {{ sum_of_counts('slash_commands') }} as slash_commands,
        {{ sum_of_counts('hooks') }} as hooks,
        {{ sum_of_counts('sessions') }} as sessions,
        {{ sum_of_counts('messages') }} as messages,
        {{ sum_of_counts('user_messages') }} as user_messages,
        {{ sum_of_counts('assistant_messages') }} as assistant_messages,
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
