with

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
        {{ sums_of_tokens() }},
        count(*) as days_used
    from {{ ref('fct_model_day') }}
    group by 1, 2, 3

),

final as (

    select
        model_months.*,
        cast(model_months.billable_tokens as double) / nullif(
            sum(model_months.billable_tokens) over (
                partition by org_id, month_start_date
            ),
            0
        ) as share_of_month,
        token_months.known_days,
        token_months.days_in_month
    from model_months
    left join token_months using (org_id, month_start_date)

)

select * from final
