-- Built by whole days: see macros/incremental.sql. The residuals of the totals
-- are computed here, because a model of their own would need a pass over every
-- day.
{{
    config(
        materialized='incremental',
        unique_key=['org_id', 'activity_date'],
        pre_hook=[
            "{{ delete_outdated_days('fct_user_model_day', 'stg_platform__tokens_days') }}",
            "{{ clear_recorded_days('fct_user_model_day') }}",
            "{{ record_days('fct_user_model_day', 'stg_platform__tokens_days') }}"
        ]
    )
}}

with

due_days as (

    {{ due(
        'stg_platform__tokens_days',
        ['org_id', 'activity_date'],
        ['billable_tokens', 'input_tokens', 'output_tokens']
    ) }}

),

parts as (

    select
        user_models.org_id,
        user_models.activity_date,
        user_models.user_id,
        user_models.model_id,
        user_models.model_tier,
        user_models.billable_tokens,
        user_models.input_tokens,
        user_models.output_tokens
    from {{ ref('stg_platform__tokens_user_models') }} as user_models
    inner join due_days using (org_id, activity_date)

),

accounts as (

    select accounts.*
    from {{ ref('stg_platform__tokens_users') }} as accounts
    inner join due_days using (org_id, activity_date)

),

account_parts as (

    select
        org_id,
        activity_date,
        user_id,
        {{ sums_of_tokens() }}
    from parts
    group by 1, 2, 3

),

-- The total of a user is known, also where their models send no tokens.
account_residuals as (

    {{ residual_tokens(
        'accounts',
        'account_parts',
        ['org_id', 'activity_date', 'user_id'],
        is_always_known=true
    ) }}

),

day_parts as (

    select
        org_id,
        activity_date,
        {{ sums_of_tokens() }},
        count(*) as part_count
    from (
        select * from account_residuals

        union all

        select
            org_id,
            activity_date,
            user_id,
            billable_tokens,
            input_tokens,
            output_tokens
        from account_parts
    ) as parts_of_days
    group by 1, 2

),

day_residuals as (

    {{ residual_tokens(
        'due_days', 'day_parts', ['org_id', 'activity_date']
    ) }}

),

unattributed_parts as (

    select * from parts
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
    from account_residuals

    union all

    select
        org_id,
        activity_date,
        '(unattributed)' as user_id,
        '(unattributed)' as model_id,
        cast(null as string) as model_tier,
        billable_tokens,
        input_tokens,
        output_tokens
    from day_residuals

),

final as (

    select * from parts
    where user_id != '(unattributed)' and model_id != '(unattributed)'

    union all

    select
        org_id,
        activity_date,
        user_id,
        model_id,
        max(model_tier) as model_tier,
        {{ sums_of_tokens() }}
    from unattributed_parts
    group by 1, 2, 3, 4

)

select * from final
