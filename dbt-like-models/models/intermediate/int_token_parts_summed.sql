-- Made by whole days, as fct_user_model_day is: a pass over all users and
-- models of every day would be the dearest of the nightly build.
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
                from {{ ref('stg_platform__tokens_days') }} as served
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
    from {{ ref('stg_platform__tokens_days') }} as served
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

models as (

    select
        parts.org_id,
        parts.activity_date,
        {{ sum_of_credits('parts.billable_tokens') }} as billable_tokens,
        {{ sum_of_counts('parts.input_tokens') }} as input_tokens,
        {{ sum_of_counts('parts.output_tokens') }} as output_tokens
    from {{ ref('stg_platform__tokens_models') }} as parts
    inner join due_days
        on parts.org_id = due_days.org_id
        and parts.activity_date = due_days.activity_date
    group by 1, 2

),

users as (

    select
        parts.org_id,
        parts.activity_date,
        {{ sum_of_credits('parts.billable_tokens') }} as billable_tokens,
        {{ sum_of_counts('parts.input_tokens') }} as input_tokens,
        {{ sum_of_counts('parts.output_tokens') }} as output_tokens
    from {{ ref('stg_platform__tokens_users') }} as parts
    inner join due_days
        on parts.org_id = due_days.org_id
        and parts.activity_date = due_days.activity_date
    group by 1, 2

),

user_models as (

    select
        parts.org_id,
        parts.activity_date,
        {{ sum_of_credits('parts.billable_tokens') }} as billable_tokens,
        {{ sum_of_counts('parts.input_tokens') }} as input_tokens,
        {{ sum_of_counts('parts.output_tokens') }} as output_tokens
    from {{ ref('stg_platform__tokens_user_models') }} as parts
    inner join due_days
        on parts.org_id = due_days.org_id
        and parts.activity_date = due_days.activity_date
    group by 1, 2

),

final as (

    select
        due_days.org_id,
        due_days.activity_date,
        models.billable_tokens as models_billable_tokens,
        models.input_tokens as models_input_tokens,
        models.output_tokens as models_output_tokens,
        users.billable_tokens as users_billable_tokens,
        users.input_tokens as users_input_tokens,
        users.output_tokens as users_output_tokens,
        user_models.billable_tokens as user_models_billable_tokens,
        user_models.input_tokens as user_models_input_tokens,
        user_models.output_tokens as user_models_output_tokens,
        due_days.day_digest
    from due_days
    left join models
        on due_days.org_id = models.org_id
        and due_days.activity_date = models.activity_date
    left join users
        on due_days.org_id = users.org_id
        and due_days.activity_date = users.activity_date
    left join user_models
        on due_days.org_id = user_models.org_id
        and due_days.activity_date = user_models.activity_date

)

select * from final
