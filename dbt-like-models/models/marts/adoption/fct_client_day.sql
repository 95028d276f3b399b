with

clients as (

    select * from {{ ref('int_client_users_coalesced') }}

),

final as (

    select
        org_id,
        activity_date,
        client,
        max(daily_active_users) as daily_active_users
    from clients
    group by 1, 2, 3

)

select * from final
