-- One row per org, day, session of `sessions` and name of a tag.
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
            "sessionSettings": {"tags": [{"name": "VARCHAR"}]}
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

tags as (

    select
        org_id,
        activity_date,
        session_id,
        unnest(session.sessionSettings.tags) as tag,
        fetched_at
    from latest

),

final as (

    select
        org_id,
        activity_date,
        session_id,
        tag.name as tag_name,
        max(fetched_at) as fetched_at
    from tags
    where tag.name != ''
    group by 1, 2, 3, 4

)

select * from final
