-- One row per org, day and revision of `enterprise_controls`; a later one wins.
-- `settings` is NULL where it is no object.
with

changes as (

    select
        org_id,
        activity_date,
        page,
        ordinal,
        read_item(mended(item), '{
            "revision": "VARCHAR",
            "updatedAt": "VARCHAR",
            "user": {"id": "VARCHAR", "email": "VARCHAR", "name": "VARCHAR"},
            "settings": "JSON"
        }') as change,
        fetched_at
    from raw

),

typed as (

    select
        org_id,
        activity_date,
        page,
        ordinal,
        to_count(change.revision) as revision,
        to_time(change.updatedAt) as updated_at,
        nullif(change.user.id, '') as actor_id,
        nullif(change.user.email, '') as actor_email,
        nullif(change.user.name, '') as actor_name,
        case
            when json_type(change.settings) = 'OBJECT'
            then cast(change.settings as varchar)
        end as settings,
        fetched_at
    from changes

),

final as (

    select * exclude (page, ordinal)
    from typed
    qualify revision is null or row_number() over (
        partition by org_id, activity_date, revision
        order by fetched_at desc, page desc, ordinal desc
    ) = 1

)

select * from final
