-- One row per entry of `by_language`, repeated entries too.
with

days as (

    select
        org_id,
        activity_date,
        page,
        ordinal,
        read_item(item, '{
            "by_language": [{
                "language": "VARCHAR",
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
        unnest(day.by_language) as entry,
        fetched_at
    from days

),

final as (

    select
        org_id,
        activity_date,
        entry.language,
        to_count(entry.count) as count_value,
        fetched_at
    from entries
    semi join newest_rows() using (org_id, activity_date, page, ordinal)
    where
        entry.language is not null
        or entry.count is not null

)

select * from final
