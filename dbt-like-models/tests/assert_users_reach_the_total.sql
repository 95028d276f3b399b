-- Days whose users, models and residuals do not reach the API's total: with
-- residual rows this cannot be.
with

days as (

    select * from {{ ref('fct_org_day') }}

),

user_models as (

    select
        org_id,
        activity_date,
        sum(billable_tokens) as billable_tokens
    from {{ ref('fct_user_model_day') }}
    group by 1, 2

),

final as (

    select
        days.org_id,
        days.activity_date,
        days.billable_tokens as expected,
        user_models.billable_tokens as actual
    from days
    left join user_models
        on days.org_id = user_models.org_id
        and days.activity_date = user_models.activity_date
    where days.billable_tokens > coalesce(user_models.billable_tokens, 0)

)

select * from final
