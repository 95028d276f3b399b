-- One row per entry of `hooks_by_event`, repeated entries too.
with

entries as (

    select
        org_id,
        activity_date,
        unnest(item.hooks_by_event) as entry,
        fetched_at
    from parsed

)

select
    org_id,
    activity_date,
    entry.event,
    entry.matcher,
    entry.command,
    to_count(entry.count) as count_value,
    fetched_at
from entries
where
    entry.event is not null
    or entry.matcher is not null
    or entry.command is not null
    or entry.count is not null
