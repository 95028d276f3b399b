with

model_days as (

    select * from {{ ref('fct_model_day') }}

),

model_months as (

    select
        org_id,
        cast(date_trunc('month', activity_date) as date) as month_start_date,
        model_id,
        max(model_tier) as model_tier,
        cast(sum(billable_tokens) as bigint) as billable_tokens,
        cast(sum(input_tokens) as bigint) as input_tokens,
        cast(sum(output_tokens) as bigint) as output_tokens,
        count(*) as days_used
    from model_days
    group by 1, 2, 3

),

final as (

    select
        *,
        cast(billable_tokens as double) / nullif(
            sum(billable_tokens) over (
                partition by org_id, month_start_date
            ),
            0
        ) as share_of_month
    from model_months

)

select * from final
