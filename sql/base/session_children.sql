-- One row per org, day, session of `sessions` and child session that it names.
with

served as (

    select
        org_id,
        activity_date,
        page,
        ordinal,
        asked_for(request, 'sessions') as asked,
        read_item(item, '{
            "sessionId": "VARCHAR",
            "sessionSettings": {
                "childInclusiveTokenUsageBySessionId": "MAP(VARCHAR, VARCHAR)"
            }
        }') as session,
        fetched_at
    from raw

),

named_sessions as (

    select
        *,
        coalesce(nullif(session.sessionId, ''), asked) as session_id
    from served

),

latest as (

    select * from named_sessions
    qualify session_id is null or row_number() over (
        partition by org_id, activity_date, session_id
        order by fetched_at desc, page desc, ordinal desc
    ) = 1

),

children as (

    select
        org_id,
        activity_date,
        session_id,
        unnest(map_keys(
            session.sessionSettings.childInclusiveTokenUsageBySessionId
        )) as child_session_id,
        fetched_at
    from latest

),

final as (

    select
        org_id,
        activity_date,
        session_id,
        child_session_id,
        max(fetched_at) as fetched_at
    from children
    where child_session_id != ''
    group by 1, 2, 3, 4

)

select * from final
