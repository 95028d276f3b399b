with

days as (

    select * from {{ ref('stg_platform__activity_days') }}

),

clients as (

    select * from {{ ref('fct_client_day') }}

),

memberships as (

    select
        org_id,
        activity_date,
        case
            when count(*) = count(daily_active_users)
            then cast(sum(daily_active_users) as bigint)
        end as client_memberships,
        count(case when daily_active_users > 0 then 1 end) as active_clients
    from clients
    group by 1, 2

),

differences as (

    select
        memberships.org_id,
        memberships.activity_date,
        days.daily_active_users,
        memberships.client_memberships,
        memberships.active_clients,
        memberships.client_memberships - days.daily_active_users as extra
    from memberships
    left join days
        on memberships.org_id = days.org_id
        and memberships.activity_date = days.activity_date

),

final as (

    select
        org_id,
        activity_date,
        daily_active_users,
        client_memberships,
        active_clients,
        case
            when extra is null then cast(null as bigint)
            when active_clients <= 1 then cast(0 as bigint)
            else cast(
                ceil(cast(extra as double) / (active_clients - 1)) as bigint
            )
        end as multi_client_users_min,
        extra as multi_client_users_max
    from differences

)

select * from final
