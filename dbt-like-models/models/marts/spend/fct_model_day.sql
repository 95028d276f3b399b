with

models_and_residuals as (

    select
        org_id,
        activity_date,
        model_id,
        model_tier,
        billable_tokens,
        input_tokens,
        output_tokens
    from {{ ref('int_model_tokens_coalesced') }}

    union all

    select * from {{ ref('int_model_tokens_unattributed') }}

),

final as (

    select
        org_id,
        activity_date,
        model_id,
        max(model_tier) as model_tier,
        {{ sums_of_tokens() }}
    from models_and_residuals
    group by 1, 2, 3

)

select * from final
