-- One row per org, day and event of `hook_events`; a later one wins. A session
-- that ends by reason of `error` or `other` has failed.
with

served as (

    select
        org_id,
        activity_date,
        page,
        ordinal,
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
        }') as event,
        fetched_at
    from raw

),

latest as (

    select * from served
    qualify event.event_id is null or row_number() over (
        partition by org_id, activity_date, event.event_id
        order by fetched_at desc, page desc, ordinal desc
    ) = 1

),

final as (

    select
        org_id,
        activity_date,
        nullif(event.event_id, '') as event_id,
        nullif(event.input.hook_event_name, '') as hook_event,
        nullif(event.input.session_id, '') as session_id,
        to_time(event.recorded_at) as recorded_at,
        nullif(event.input.cwd, '') as cwd,
        event.input.message,
        nullif(event.input.reason, '') as reason,
        case
            when event.input.hook_event_name = 'SessionEnd'
            then nullif(event.input.reason, '') in ('error', 'other')
        end as is_failure,
        fetched_at
    from latest

)

select * from final
