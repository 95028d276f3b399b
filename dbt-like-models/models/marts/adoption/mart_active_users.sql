with

-- A day that the platform answered without rows has no active users.
days as (

    select
        org_id,
        activity_date,
        days.daily_active_users,
        days.weekly_active_users,
        days.monthly_active_users,
        coalesce(
            days.daily_active_users,
            case when intervals.status = 'empty' then 0 end
        ) as known_users
    from {{ ref('fct_org_day') }} as days
    full outer join (
        select org_id, activity_date, status
        from {{ ref('stg_platform__intervals') }}
        where resource = 'activity'
    ) as intervals using (org_id, activity_date)

),

windowed as (

    select
        org_id,
        activity_date,
        daily_active_users,
        weekly_active_users,
        monthly_active_users,
        try_cast(
            sum(cast(known_users as decimal(38, 0))) over last_7_days as bigint
        ) as user_days_7d,
        count(known_users) over last_7_days as days_known_7d,
        try_cast(
            sum(cast(known_users as decimal(38, 0))) over last_30_days as bigint
        ) as user_days_30d,
        count(known_users) over last_30_days as days_known_30d
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
    where
        coalesce(
            daily_active_users, weekly_active_users, monthly_active_users
        ) is not null

)

select * from final
