-- One row per entry of `hooks_by_event`, repeated entries too.
with

days as (

    select
        org_id,
        activity_date,
        page,
        ordinal,
        read_item(item, '{
            "hooks_by_event": [{
                "event": "VARCHAR",
                "matcher": "VARCHAR",
                "command": "VARCHAR",
                "count": "VARCHAR"
            }]
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
        unnest(day.hooks_by_event) as entry,
        fetched_at
    from days

),

final as (

    select
        org_id,
        activity_date,
        entry.event,
        entry.matcher,
        entry.command,
        to_count(entry.count) as count_value,
        fetched_at
    from entries
    semi join newest_rows() using (org_id, activity_date, page, ordinal)
    where
        entry.event is not null
        or entry.matcher is not null
        or entry.command is not null
        or entry.count is not null

)

select * from final
