-- The limits as `usage_limits` served them last.
with

served as (

    select
        org_id,
        activity_date,
        {
            'fetched_at': fetched_at, 'page': page, 'ordinal': ordinal
        } as place,
        read_item(item, '{
            "globalLimit": "VARCHAR",
            "userLimits": [{"email": "VARCHAR", "limit": "VARCHAR"}]
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
