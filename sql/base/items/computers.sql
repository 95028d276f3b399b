-- Computers of `computers`; a later one wins.
with

served as (

    select
        org_id,
        activity_date,
        {
            'fetched_at': fetched_at, 'page': page, 'ordinal': ordinal
        } as place,
        read_item(item, '{
            "id": "VARCHAR",
            "name": "VARCHAR",
            "providerType": "VARCHAR",
            "createdAt": "VARCHAR",
            "hostId": "VARCHAR",
            "hostname": "VARCHAR",
            "status": "VARCHAR",
            "remoteUser": "VARCHAR",
            "provisioningSteps": [{
                "id": "VARCHAR",
                "name": "VARCHAR",
                "status": "VARCHAR",
                "error": "VARCHAR",
                "startedAt": "VARCHAR",
                "completedAt": "VARCHAR",
                "installSessionId": "VARCHAR"
            }]
        }') as item,
        fetched_at
    from raw

),

final as (

    select
        *,
        item.id as row_key
    from served

)

select * from final
