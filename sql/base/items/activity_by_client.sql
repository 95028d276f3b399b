-- Groups of `activity_by_client`; a later one wins.
with

served as (

    select
        org_id,
        activity_date,
        {'page': page, 'ordinal': ordinal} as place,
        read_item(item, '{
            "group_key": "VARCHAR",
            "daily_active_users": "VARCHAR"
        }') as item,
        fetched_at
    from raw

),

final as (

    select
        *,
        item.group_key as row_key
    from served

)

select * from final
