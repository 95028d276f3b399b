with

occurrences as (

    select
        org_id,
        model_id,
        activity_date,
        model_tier
    from {{ ref('fct_model_day') }}

    union all

    select
        org_id,
        model_id,
        activity_date,
        model_tier
    from {{ ref('fct_user_model_day') }}

    union all

    select
        org_id,
        primary_model as model_id,
        activity_date,
        primary_model_tier as model_tier
    from {{ ref('fct_user_day') }}
    where primary_model is not null

),

model_days as (

    select
        org_id,
        model_id,
        activity_date,
        max(model_tier) as model_tier
    from occurrences
    group by 1, 2, 3

),

final as (

    select
        org_id,
        model_id,
        max_by(
            model_tier,
            case when model_tier is not null then activity_date end
        ) as model_tier,
        min(activity_date) as first_active_date,
        max(activity_date) as last_active_date
    from model_days
    group by 1, 2

)

select * from final
