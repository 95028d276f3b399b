with

nested as (

    select * from {{ ref('stg_platform__tokens_models') }}

),

grouped as (

    select * from {{ ref('stg_platform__tokens_by_model') }}

),

days_with_nested as (

    select
        org_id,
        activity_date
    from nested
    group by 1, 2

),

grouped_elsewhere as (

    select
        grouped.org_id,
        grouped.activity_date,
        grouped.model_id,
        cast(null as string) as model_tier,
        grouped.billable_tokens,
        grouped.input_tokens,
        grouped.output_tokens
    from grouped
    left join days_with_nested
        on grouped.org_id = days_with_nested.org_id
        and grouped.activity_date = days_with_nested.activity_date
    where days_with_nested.org_id is null

),

final as (

    select
        org_id,
        activity_date,
        model_id,
        model_tier,
        billable_tokens,
        input_tokens,
        output_tokens
    from nested

    union all

    select * from grouped_elsewhere

)

select * from final
