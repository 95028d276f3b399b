with

model_days as (

    select * from {{ ref('fct_model_day') }}

),

token_months as (

    select * from {{ ref('int_resource_months') }}
    where resource = 'tokens'

),

model_months as (

    select
        org_id,
        cast(date_trunc('month', activity_date) as date) as month_start_date,
        model_id,
        max(model_tier) as model_tier,
        {{ sum_of_credits('billable_tokens') }} as billable_tokens,
        {{ sum_of_counts('input_tokens') }} as input_tokens,
        {{ sum_of_counts('output_tokens') }} as output_tokens,
        count(*) as days_used
    from model_days
    group by 1, 2, 3

),

final as (

    select
        model_months.*,
        cast(model_months.billable_tokens as double) / nullif(
            sum(model_months.billable_tokens) over (
                partition by
                    model_months.org_id,
                    model_months.month_start_date
            ),
            0
        ) as share_of_month,
        token_months.known_days,
        token_months.days_in_month
    from model_months
    left join token_months
        on model_months.org_id = token_months.org_id
        and model_months.month_start_date = token_months.month_start_date

)

select * from final
