with

models as (

    select * from {{ ref('int_model_tokens_chosen') }}

),

residuals as (

    select * from {{ ref('int_model_tokens_unattributed') }}

),

parts_and_residuals as (

    select
        org_id,
        activity_date,
        model_id,
        model_tier,
        billable_tokens,
        input_tokens,
        output_tokens
    from models

    union all

    select
        org_id,
        activity_date,
        model_id,
        model_tier,
        billable_tokens,
        input_tokens,
        output_tokens
    from residuals

),

final as (

    select
        org_id,
        activity_date,
        model_id,
        max(model_tier) as model_tier,
        {{ sum_of_credits('billable_tokens') }} as billable_tokens,
        {{ sum_of_counts('input_tokens') }} as input_tokens,
        {{ sum_of_counts('output_tokens') }} as output_tokens
    from parts_and_residuals
    group by 1, 2, 3

)

select * from final
