-- Days whose models and residual do not reach the API's total: with a residual
-- row this cannot be.
with

days as (

    select * from {{ ref('fct_org_day') }}

),

models as (

    select
        org_id,
        activity_date,
        sum(billable_tokens) as billable_tokens
    from {{ ref('fct_model_day') }}
    group by 1, 2

),

final as (

    select
        days.org_id,
        days.activity_date,
        days.billable_tokens as expected,
        models.billable_tokens as actual
    from days
    left join models
        on days.org_id = models.org_id
        and days.activity_date = models.activity_date
    where days.billable_tokens > coalesce(models.billable_tokens, 0)

)

select * from final
