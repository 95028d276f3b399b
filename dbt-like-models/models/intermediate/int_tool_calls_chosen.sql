with

nested as (

    select * from {{ ref('stg_platform__tools_tools') }}

),

grouped as (

    select * from {{ ref('stg_platform__tools_by_name') }}

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
        grouped.spelling,
        grouped.invocations
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
        spelling,
        invocations
    from nested

    union all

    select * from grouped_elsewhere

)

select * from final
