-- One row per key of `daily_active_users_by_client`, whatever the keys.
with

entries as (

    select
        org_id,
        activity_date,
        unnest(map_entries(item.daily_active_users_by_client)) as entry,
        fetched_at
    from parsed

)

select
    org_id,
    activity_date,
    entry.key as client,
    to_count(entry.value) as daily_active_users,
    fetched_at
from entries
