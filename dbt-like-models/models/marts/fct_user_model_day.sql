with

user_models as (

    select * from {{ ref('stg_platform__tokens_user_models') }}

),

user_residuals as (

    select * from {{ ref('int_user_model_tokens_unattributed') }}

),

day_residuals as (

    select * from {{ ref('int_user_tokens_unattributed') }}

),

parts_and_residuals as (

    select
        org_id,
        activity_date,
        user_id,
        model_id,
        model_tier,
        billable_tokens,
        input_tokens,
        output_tokens
    from user_models

    union all

    select
        org_id,
        activity_date,
        user_id,
        model_id,
        model_tier,
        billable_tokens,
        input_tokens,
        output_tokens
    from user_residuals

    union all

    select
        org_id,
        activity_date,
        user_id,
        model_id,
        model_tier,
        billable_tokens,
        input_tokens,
        output_tokens
    from day_residuals

),

final as (

    select
        org_id,
        activity_date,
        user_id,
        model_id,
        max(model_tier) as model_tier,
        cast(sum(billable_tokens) as bigint) as billable_tokens,
        cast(sum(input_tokens) as bigint) as input_tokens,
        cast(sum(output_tokens) as bigint) as output_tokens
    from parts_and_residuals
    group by 1, 2, 3, 4

)

select * from final
