with

nested as (

    select * from {{ ref('stg_platform__activity_clients') }}

),

grouped as (

    select * from {{ ref('stg_platform__activity_by_client') }}

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
        grouped.client,
        grouped.daily_active_users
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
        client,
        daily_active_users
    from nested

    union all

    select * from grouped_elsewhere

)

select * from final
