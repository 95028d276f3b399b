-- One row per org, day, session of `sessions` and name of a tag.
with

tags as (

    select
        org_id,
        activity_date,
        session_id,
        unnest(item.sessionSettings.tags) as tag,
        fetched_at
    from parsed

)

select
    org_id,
    activity_date,
    session_id,
    tag.name as tag_name,
    max(fetched_at) as fetched_at
from tags
where tag.name != ''
group by 1, 2, 3, 4
