-- One row per org, day and revision of `enterprise_controls`; a later one wins.
-- `settings` is NULL where it is no object.
with

typed as (

    select
        org_id,
        activity_date,
        place,
        to_count(item.revision) as revision,
        to_time(item.updatedAt) as updated_at,
        nullif(item.user.id, '') as actor_id,
        nullif(item.user.email, '') as actor_email,
        nullif(item.user.name, '') as actor_name,
        case
            when json_type(item.settings) = 'OBJECT'
            then cast(item.settings as varchar)
        end as settings,
        fetched_at
    from parsed

)

select * exclude (place)
from typed
qualify revision is null or row_number() over (
    partition by org_id, activity_date, revision
    order by place desc
) = 1
