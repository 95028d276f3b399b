with

days as (

    select * from {{ ref('fct_org_day') }}

),

known_days as (

    select
        org_id,
        activity_date,
        daily_active_users,
        weekly_active_users,
        monthly_active_users
    from days
    where
        daily_active_users is not null
        or weekly_active_users is not null
        or monthly_active_users is not null

),

windowed as (

    select
        *,
        try_cast(sum(cast(daily_active_users as decimal(38, 0))) over (
            partition by org_id
            order by activity_date
            range between interval 6 days preceding and current row
        ) as bigint) as user_days_7d,
        count(daily_active_users) over (
            partition by org_id
            order by activity_date
            range between interval 6 days preceding and current row
        ) as days_known_7d,
        try_cast(sum(cast(daily_active_users as decimal(38, 0))) over (
            partition by org_id
            order by activity_date
            range between interval 29 days preceding and current row
        ) as bigint) as user_days_30d,
        count(daily_active_users) over (
            partition by org_id
            order by activity_date
            range between interval 29 days preceding and current row
        ) as days_known_30d
    from known_days

),

final as (

    select
        org_id,
        activity_date,
        daily_active_users,
        weekly_active_users,
        monthly_active_users,
        user_days_7d,
        days_known_7d,
        user_days_30d,
        days_known_30d,
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
