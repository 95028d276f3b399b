-- Changes of `enterprise_controls`, all of them.
with

served as (

    select
        org_id,
        activity_date,
        {
            'fetched_at': fetched_at, 'page': page, 'ordinal': ordinal
        } as place,
        read_item(item, '{
            "revision": "VARCHAR",
            "updatedAt": "VARCHAR",
            "user": {"id": "VARCHAR", "email": "VARCHAR", "name": "VARCHAR"},
            "settings": "JSON"
        }') as item,
        fetched_at
    from raw

),

final as (

    select
        *,
        cast(null as varchar) as row_key
    from served

)

select * from final
