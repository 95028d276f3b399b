-- Weeks whose active users differ from the sum of new, retained and resurrected
-- users, or whose retained and churned users differ from the active users of
-- the week before.
with

followed as (

    select
        *,
        lag(active_users) over (
            partition by org_id
            order by week_start_date
        ) as active_before
    from {{ ref('mart_user_lifecycle_week') }}

),

final as (

    select * from followed
    where
        active_users != new_users + retained_users + resurrected_users
        or active_before != retained_users + churned_users

)

select * from final
