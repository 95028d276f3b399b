-- One row per org and day of `activity`.
with

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
    semi join newest_rows() using (org_id, activity_date, page, ordinal)

)

select * from final
