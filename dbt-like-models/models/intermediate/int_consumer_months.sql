-- Made by whole months, as int_user_months is.
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
                from {{ ref('int_consumer_months_served') }} as served
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
    from {{ ref('int_consumer_months_served') }} as served
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
    from {{ ref('stg_platform__tokens_days') }} as served
    inner join due_months
        on served.org_id = due_months.org_id
        and date_trunc('month', served.activity_date)
        = due_months.month_start_date

),

totals as (

    select
        consumers.org_id,
        due_days.month_start_date,
        consumers.user_id,
        consumers.user_email,
        min(consumers.activity_date) as first_total_date,
        max(consumers.activity_date) as last_total_date,
        cast(null as date) as first_part_date,
        max(due_days.month_digest) as month_digest
    from {{ ref('stg_platform__tokens_users') }} as consumers
    inner join due_days
        on consumers.org_id = due_days.org_id
        and consumers.activity_date = due_days.activity_date
    group by 1, 2, 3, 4

),

parts as (

    select
        user_models.org_id,
        due_days.month_start_date,
        user_models.user_id,
        cast(null as string) as user_email,
        cast(null as date) as first_total_date,
        cast(null as date) as last_total_date,
        min(user_models.activity_date) as first_part_date,
        max(due_days.month_digest) as month_digest
    from {{ ref('fct_user_model_day') }} as user_models
    inner join due_days
        on user_models.org_id = due_days.org_id
        and user_models.activity_date = due_days.activity_date
    group by 1, 2, 3

),

final as (

    select * from totals

    union all

    select * from parts

)

select * from final
