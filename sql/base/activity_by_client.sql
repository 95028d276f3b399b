-- One row per org, day and group of `activity_by_client`; a later one wins.
with

entries as (

    select
        org_id,
        activity_date,
        page,
        ordinal,
        read_item(item, '{
            "group_key": "VARCHAR",
            "daily_active_users": "VARCHAR"
        }') as entry,
        fetched_at
    from raw

),

latest as (

    select * from entries
    qualify entry.group_key is null or row_number() over (
        partition by org_id, activity_date, entry.group_key
        order by page desc, ordinal desc
    ) = 1

),

final as (

    select
        org_id,
        activity_date,
        entry.group_key,
        to_count(entry.daily_active_users) as daily_active_users,
        fetched_at
    from latest

)

select * from final
