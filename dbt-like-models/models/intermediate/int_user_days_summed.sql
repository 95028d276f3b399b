-- Made by whole days, as fct_user_day is, of which this is the sum.
{{
    config(
        materialized='incremental',
        incremental_strategy='delete+insert',
        unique_key=['org_id', 'activity_date'],
        on_schema_change='fail',
        pre_hook="
            {% if is_incremental() %}
            delete from {{ this }} as held
            where not exists (
                select 1
                from {{ ref('int_user_days_served') }} as served
                where
                    served.org_id = held.org_id
                    and served.activity_date = held.activity_date
                    and served.day_digest = held.day_digest
            )
            {% endif %}
        "
    )
}}

with

due_days as (

    select
        served.org_id,
        served.activity_date,
        served.day_digest
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

    select
        users.*,
        due_days.day_digest
    from {{ ref('fct_user_day') }} as users
    inner join due_days
        on users.org_id = due_days.org_id
        and users.activity_date = due_days.activity_date

),

final as (

    select
        org_id,
        activity_date,
        count(case when user_id not like '(%' then 1 end) as users,
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
        max(day_digest) as day_digest
    from users
    group by 1, 2

)

select * from final
