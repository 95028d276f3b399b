-- One row per entry of `slash_commands_by_name`, repeated entries too.
with

entries as (

    select
        org_id,
        activity_date,
        unnest(item.slash_commands_by_name) as entry,
        fetched_at
    from parsed

)

select
    org_id,
    activity_date,
    entry.name,
    to_count(entry.count) as count_value,
    fetched_at
from entries
where
    entry.name is not null
    or entry.count is not null
