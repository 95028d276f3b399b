-- Made by whole days: days of another version than the one served are taken
-- out first, and what is served and not here is put in. What the parts leave of
-- their totals is found here, for a model of its own would need a pass over
-- every day.
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
                'fct_user_model_day',
                this,
                ref('int_fact_days'),
                ref('stg_platform__tokens_days')
            ) }}
            {% endif %}
            ",
            "{{ forget_days('fct_user_model_day', ref('int_fact_days')) }}",
            "
            {{ record_days(
                'fct_user_model_day',
                ref('int_fact_days'),
                ref('stg_platform__tokens_days')
            ) }}
            "
        ]
    )
}}

with

due_days as (

    select
        served.org_id,
        served.activity_date,
        served.billable_tokens,
        served.input_tokens,
        served.output_tokens
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

parts as (

    select user_models.*
    from {{ ref('stg_platform__tokens_user_models') }} as user_models
    inner join due_days
        on user_models.org_id = due_days.org_id
        and user_models.activity_date = due_days.activity_date

),

totals as (

    select users.*
    from {{ ref('stg_platform__tokens_users') }} as users
    inner join due_days
        on users.org_id = due_days.org_id
        and users.activity_date = due_days.activity_date

),

user_parts as (

    select
        org_id,
        activity_date,
        user_id,
        {{ sum_of_credits('billable_tokens') }} as billable_tokens,
        {{ sum_of_counts('input_tokens') }} as input_tokens,
        {{ sum_of_counts('output_tokens') }} as output_tokens,
        count(*) as part_count
    from parts
    group by 1, 2, 3

),

user_differences as (

    select
        totals.org_id,
        totals.activity_date,
        totals.user_id,
        {{ difference_of_credits(
            'totals.billable_tokens', 'coalesce(user_parts.billable_tokens, 0)'
        ) }} as billable_tokens,
        case
            when
                user_parts.part_count is null
                or user_parts.input_tokens is not null
            then {{ difference_of_counts(
                'totals.input_tokens', 'coalesce(user_parts.input_tokens, 0)'
            ) }}
        end as input_tokens,
        case
            when
                user_parts.part_count is null
                or user_parts.output_tokens is not null
            then {{ difference_of_counts(
                'totals.output_tokens', 'coalesce(user_parts.output_tokens, 0)'
            ) }}
        end as output_tokens
    from totals
    left join user_parts
        on totals.org_id = user_parts.org_id
        and totals.activity_date = user_parts.activity_date
        and totals.user_id = user_parts.user_id

),

user_residuals as (

    select
        org_id,
        activity_date,
        user_id,
        case
            when billable_tokens < 0 then 0 else billable_tokens
        end as billable_tokens,
        case when input_tokens < 0 then 0 else input_tokens end as input_tokens,
        case
            when output_tokens < 0 then 0 else output_tokens
        end as output_tokens
    from user_differences
    where billable_tokens > 0 or input_tokens > 0 or output_tokens > 0

),

known_tokens as (

    select
        org_id,
        activity_date,
        billable_tokens,
        input_tokens,
        output_tokens
    from user_parts

    union all

    select
        org_id,
        activity_date,
        billable_tokens,
        input_tokens,
        output_tokens
    from user_residuals

),

day_parts as (

    select
        org_id,
        activity_date,
        {{ sum_of_credits('billable_tokens') }} as billable_tokens,
        {{ sum_of_counts('input_tokens') }} as input_tokens,
        {{ sum_of_counts('output_tokens') }} as output_tokens,
        count(*) as part_count
    from known_tokens
    group by 1, 2

),

day_differences as (

    select
        due_days.org_id,
        due_days.activity_date,
        {{ difference_of_credits(
            'due_days.billable_tokens', 'coalesce(day_parts.billable_tokens, 0)'
        ) }} as billable_tokens,
        case
            when
                day_parts.part_count is null
                or day_parts.input_tokens is not null
            then {{ difference_of_counts(
                'due_days.input_tokens', 'coalesce(day_parts.input_tokens, 0)'
            ) }}
        end as input_tokens,
        case
            when
                day_parts.part_count is null
                or day_parts.output_tokens is not null
            then {{ difference_of_counts(
                'due_days.output_tokens', 'coalesce(day_parts.output_tokens, 0)'
            ) }}
        end as output_tokens
    from due_days
    left join day_parts
        on due_days.org_id = day_parts.org_id
        and due_days.activity_date = day_parts.activity_date

),

unattributed_parts as (

    select
        org_id,
        activity_date,
        user_id,
        model_id,
        model_tier,
        billable_tokens,
        input_tokens,
        output_tokens
    from parts
    where user_id = '(unattributed)' or model_id = '(unattributed)'

    union all

    select
        org_id,
        activity_date,
        user_id,
        '(unattributed)' as model_id,
        cast(null as string) as model_tier,
        billable_tokens,
        input_tokens,
        output_tokens
    from user_residuals

    union all

    select
        org_id,
        activity_date,
        '(unattributed)' as user_id,
        '(unattributed)' as model_id,
        cast(null as string) as model_tier,
        case
            when billable_tokens < 0 then 0 else billable_tokens
        end as billable_tokens,
        case when input_tokens < 0 then 0 else input_tokens end as input_tokens,
        case
            when output_tokens < 0 then 0 else output_tokens
        end as output_tokens
    from day_differences
    where billable_tokens > 0 or input_tokens > 0 or output_tokens > 0

),

final as (

    select
        org_id,
        activity_date,
        user_id,
        model_id,
        model_tier,
        billable_tokens,
        input_tokens,
        output_tokens
    from parts
    where user_id != '(unattributed)' and model_id != '(unattributed)'

    union all

    select
        org_id,
        activity_date,
        user_id,
        model_id,
        max(model_tier) as model_tier,
        {{ sum_of_credits('billable_tokens') }} as billable_tokens,
        {{ sum_of_counts('input_tokens') }} as input_tokens,
        {{ sum_of_counts('output_tokens') }} as output_tokens
    from unattributed_parts
    group by 1, 2, 3, 4

)

select * from final
