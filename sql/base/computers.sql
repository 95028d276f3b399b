-- One row per org, day and computer of `computers`; a later one wins. The unit
-- of `createdAt` is not documented: it is told by its size.
with

served as (

    select
        org_id,
        activity_date,
        page,
        ordinal,
        read_item(item, '{
            "id": "VARCHAR",
            "name": "VARCHAR",
            "providerType": "VARCHAR",
            "createdAt": "VARCHAR",
            "hostId": "VARCHAR",
            "hostname": "VARCHAR",
            "status": "VARCHAR",
            "remoteUser": "VARCHAR"
        }') as computer,
        fetched_at
    from raw

),

latest as (

    select * from served
    qualify computer.id is null or row_number() over (
        partition by org_id, activity_date, computer.id
        order by fetched_at desc, page desc, ordinal desc
    ) = 1

),

final as (

    select
        org_id,
        activity_date,
        nullif(computer.id, '') as computer_id,
        nullif(computer.name, '') as computer_name,
        nullif(computer.providerType, '') as provider_type,
        computer.createdAt as created_at_raw,
        from_epoch(computer.createdAt) as created_at,
        nullif(computer.hostId, '') as host_id,
        nullif(computer.hostname, '') as hostname,
        nullif(computer.status, '') as status,
        nullif(computer.remoteUser, '') as remote_user,
        fetched_at
    from latest

)

select * from final
