-- Made by whole months, for a pass over the users of every day would be
-- among the dearest of the nightly build.
{{
    config(
        materialized='incremental',
        incremental_strategy='delete+insert',
        unique_key=['org_id', 'month_start_date'],
        on_schema_change='fail',
        pre_hook="
            {% if is_incremental() %}
            delete from {{ this }} as held
            where not exists (
                select 1
                from {{ ref('int_user_months_served') }} as served
                where
                    served.org_id = held.org_id
                    and served.month_start_date = held.month_start_date
                    and served.month_digest = held.month_digest
            )
            {% endif %}
        "
    )
}}

with

due_months as (

    select
        served.org_id,
        served.month_start_date,
        served.month_digest
    from {{ ref('int_user_months_served') }} as served
    {% if is_incremental() %}
    where
        not exists (
            select 1
            from {{ this }} as held
            where
                held.org_id = served.org_id
                and held.month_start_date = served.month_start_date
        )
    {% endif %}

),

due_days as (

    select
        served.org_id,
        served.activity_date,
        due_months.month_start_date,
        due_months.month_digest
    from {{ ref('int_user_days_served') }} as served
    inner join due_months
        on served.org_id = due_months.org_id
        and date_trunc('month', served.activity_date)
        = due_months.month_start_date

),

final as (

    select
        users.org_id,
        due_days.month_start_date,
        users.user_id,
        users.user_email,
        min(users.activity_date) as first_date,
        max(users.activity_date) as last_date,
        count(*) as active_days,
        {{ sum_of_credits('users.billable_tokens') }} as billable_tokens,
        max(due_days.month_digest) as month_digest
    from {{ ref('fct_user_day') }} as users
    inner join due_days
        on users.org_id = due_days.org_id
        and users.activity_date = due_days.activity_date
    group by 1, 2, 3, 4

)

select * from final
