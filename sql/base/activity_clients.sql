-- One row per key of `daily_active_users_by_client`, whatever the keys.
with

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
    semi join newest_rows() using (org_id, activity_date, page, ordinal)

)

select * from final
