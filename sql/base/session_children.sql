-- One row per org, day, session of `sessions` and child session that it names.
with

children as (

    select
        org_id,
        activity_date,
        session_id,
        unnest(map_keys(
            item.sessionSettings.childInclusiveTokenUsageBySessionId
        )) as child_session_id,
        fetched_at
    from parsed

)

select
    org_id,
    activity_date,
    session_id,
    child_session_id,
    max(fetched_at) as fetched_at
from children
where child_session_id != ''
group by 1, 2, 3, 4
