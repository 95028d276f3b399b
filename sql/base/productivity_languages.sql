-- One row per entry of `by_language`, repeated entries too.
with

entries as (

    select
        org_id,
        activity_date,
        unnest(item.by_language) as entry,
        fetched_at
    from parsed

)

select
    org_id,
    activity_date,
    entry.language,
    to_count(entry.count) as count_value,
    fetched_at
from entries
where
    entry.language is not null
    or entry.count is not null
