-- One row per key of `tool_autonomy_level_ratio`, whatever the keys.
with

entries as (

    select
        org_id,
        activity_date,
        unnest(map_entries(item.tool_autonomy_level_ratio)) as entry,
        fetched_at
    from parsed

)

select
    org_id,
    activity_date,
    entry.key as level_key,
    to_ratio(entry.value) as share,
    fetched_at
from entries
