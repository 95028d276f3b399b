with

days as (

    select
        org_id,
        activity_date,
        daily_active_users,
        weekly_active_users,
        monthly_active_users
    from {{ ref('fct_org_day') }}
    where
        coalesce(
            daily_active_users, weekly_active_users, monthly_active_users
        ) is not null

),

windowed as (

    select
        *,
        try_cast(
            sum(cast(daily_active_users as decimal(38, 0))) over last_7_days
            as bigint
        ) as user_days_7d,
        count(daily_active_users) over last_7_days as days_known_7d,
        try_cast(
            sum(cast(daily_active_users as decimal(38, 0))) over last_30_days
            as bigint
        ) as user_days_30d,
        count(daily_active_users) over last_30_days as days_known_30d
    from days
    window
        last_7_days as (
            partition by org_id
            order by activity_date
            range between interval 6 days preceding and current row
        ),
        last_30_days as (
            partition by org_id
            order by activity_date
            range between interval 29 days preceding and current row
        )

),

final as (

    select
        *,
        cast(user_days_7d as double)
        / nullif(
            days_known_7d * cast(weekly_active_users as double), 0
        ) as stickiness_7d,
        cast(user_days_30d as double)
        / nullif(
            days_known_30d * cast(monthly_active_users as double), 0
        ) as stickiness_30d
    from windowed

)

select * from final
