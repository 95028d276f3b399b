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
        cast(sum(tool_calls) as bigint) as tool_calls,
        cast(sum(billable_tokens) as bigint) as billable_tokens,
        cast(sum(files_created) as bigint) as files_created,
        cast(sum(files_edited) as bigint) as files_edited,
        cast(sum(git_commits) as bigint) as git_commits,
        cast(sum(git_prs_created) as bigint) as git_prs_created,
        cast(sum(mcp_calls) as bigint) as mcp_calls,
        cast(sum(skill_calls) as bigint) as skill_calls,
        cast(sum(slash_commands) as bigint) as slash_commands,
        cast(sum(hooks) as bigint) as hooks,
        cast(sum(sessions) as bigint) as sessions,
        cast(sum(messages) as bigint) as messages,
        cast(sum(user_messages) as bigint) as user_messages,
        max(day_digest) as day_digest
    from users
    group by 1, 2

)

select * from final
