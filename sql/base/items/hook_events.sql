-- Events of `hook_events`; a later one wins.
with

served as (

    select
        org_id,
        activity_date,
        {
            'fetched_at': fetched_at, 'page': page, 'ordinal': ordinal
        } as place,
        read_item(item, '{
            "event_id": "VARCHAR",
            "recorded_at": "VARCHAR",
            "input": {
                "hook_event_name": "VARCHAR",
                "session_id": "VARCHAR",
                "cwd": "VARCHAR",
                "message": "VARCHAR",
                "reason": "VARCHAR"
            }
        }') as item,
        fetched_at
    from raw

),

final as (

    select
        *,
        item.event_id as row_key
    from served

)

select * from final
