with

models as (

    {{ nested_or_grouped(
        'stg_platform__tokens_models',
        'stg_platform__tokens_by_model',
        ['model_id', 'billable_tokens', 'input_tokens', 'output_tokens'],
        ['model_tier']
    ) }}

),

day_parts as (

    select
        org_id,
        activity_date,
        {{ sums_of_tokens() }},
        count(*) as part_count
    from models
    group by 1, 2

),

models_and_residuals as (

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
        '(unattributed)' as model_id,
        cast(null as string) as model_tier,
        billable_tokens,
        input_tokens,
        output_tokens
    from (
        {{ residual_tokens(
            ref('stg_platform__tokens_days'),
            'day_parts',
            ['org_id', 'activity_date']
        ) }}
    ) as residuals

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
