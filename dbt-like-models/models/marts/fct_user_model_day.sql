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

identified as (

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
    where user_id != '(unattributed)' and model_id != '(unattributed)'

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
    from user_models
    where user_id = '(unattributed)' or model_id = '(unattributed)'

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

unattributed as (

    select
        org_id,
        activity_date,
        user_id,
        model_id,
        max(model_tier) as model_tier,
        cast(sum(billable_tokens) as bigint) as billable_tokens,
        cast(sum(input_tokens) as bigint) as input_tokens,
        cast(sum(output_tokens) as bigint) as output_tokens
    from unattributed_parts
    group by 1, 2, 3, 4

),

final as (

    select * from identified

    union all

    select * from unattributed

)

select * from final
