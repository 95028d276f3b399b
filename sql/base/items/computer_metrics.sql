-- Samples of `computer_metrics`; a later one wins. The computer is the one that
-- was asked for.
with

served as (

    select
        org_id,
        activity_date,
        {
            'fetched_at': fetched_at, 'page': page, 'ordinal': ordinal
        } as place,
        asked_for(request, 'computers') as computer_id,
        read_item(item, '{
            "timestamp": "VARCHAR",
            "cpuUsedPct": "VARCHAR",
            "cpuCount": "VARCHAR",
            "memUsed": "VARCHAR",
            "memTotal": "VARCHAR",
            "diskUsed": "VARCHAR",
            "diskTotal": "VARCHAR"
        }') as item,
        fetched_at
    from raw

),

final as (

    select
        *,
        to_time(item.timestamp) as sampled_at,
        case
            when sampled_at is not null
            then {'computer': computer_id, 'time': sampled_at}
        end as row_key
    from served

)

select * from final
