-- One row per key of `daily_active_users_by_client`, whatever the keys.
with

newest as (

    select
        org_id,
        activity_date,
        page,
        ordinal
    from raw
    qualify row_number() over (
        partition by org_id, activity_date
        order by page desc, ordinal desc
    ) = 1

),

days as (

    select
        org_id,
        activity_date,
        page,
        ordinal,
        read_item(item, '{
            "daily_active_users_by_client": "MAP(VARCHAR, VARCHAR)"
        }') as day,
        fetched_at
    from raw

),

entries as (

    select
        org_id,
        activity_date,
        page,
        ordinal,
        unnest(map_entries(day.daily_active_users_by_client)) as entry,
        fetched_at
    from days

),

final as (

    select
        org_id,
        activity_date,
        entry.key as client,
        to_count(entry.value) as daily_active_users,
        fetched_at
    from entries
    semi join newest using (org_id, activity_date, page, ordinal)

)

select * from final
