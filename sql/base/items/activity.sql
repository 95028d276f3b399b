-- The day as `activity` served it last.
with

served as (

    select
        org_id,
        activity_date,
        {'page': page, 'ordinal': ordinal} as place,
        read_item(item, '{
            "daily_active_users": "VARCHAR",
            "weekly_active_users": "VARCHAR",
            "monthly_active_users": "VARCHAR",
            "sessions": "VARCHAR",
            "messages": "VARCHAR",
            "user_messages": "VARCHAR",
            "daily_active_users_by_client": "MAP(VARCHAR, VARCHAR)"
        }') as item,
        fetched_at
    from raw

),

final as (

    select
        *,
        '' as row_key
    from served

)

select * from final
