-- One row per entry of `by_extension`, repeated entries too.
with

entries as (

    select
        org_id,
        activity_date,
        unnest(item.by_extension) as entry,
        fetched_at
    from parsed

)

select
    org_id,
    activity_date,
    entry.extension,
    to_count(entry.count) as count_value,
    fetched_at
from entries
where
    entry.extension is not null
    or entry.count is not null
