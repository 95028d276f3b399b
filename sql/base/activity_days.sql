-- One row per org and day of `activity`.
with

newest as (

    select
        org_id,
        activity_date,
        page,
        ordinal
    from raw
    qualify row_number() over (
        partition by org_id, activity_date
        order by page desc, ordinal desc
    ) = 1

),

days as (

    select
        org_id,
        activity_date,
        page,
        ordinal,
        read_item(item, '{
            "daily_active_users": "VARCHAR",
            "weekly_active_users": "VARCHAR",
            "monthly_active_users": "VARCHAR",
            "sessions": "VARCHAR",
            "messages": "VARCHAR",
            "user_messages": "VARCHAR"
        }') as day,
        fetched_at
    from raw

),

final as (

    select
        org_id,
        activity_date,
        to_count(day.daily_active_users) as daily_active_users,
        to_count(day.weekly_active_users) as weekly_active_users,
        to_count(day.monthly_active_users) as monthly_active_users,
        to_count(day.sessions) as sessions,
        to_count(day.messages) as messages,
        to_count(day.user_messages) as user_messages,
        fetched_at
    from days
    semi join newest using (org_id, activity_date, page, ordinal)

)

select * from final
