-- One row per entry of `skills_by_name`, repeated entries too.
with

days as (

    select
        org_id,
        activity_date,
        page,
        ordinal,
        read_item(item, '{
            "skills_by_name": [{
                "name": "VARCHAR",
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
        unnest(day.skills_by_name) as entry,
        fetched_at
    from days

),

final as (

    select
        org_id,
        activity_date,
        entry.name,
        to_count(entry.count) as count_value,
        fetched_at
    from entries
    semi join newest_rows() using (org_id, activity_date, page, ordinal)
    where
        entry.name is not null
        or entry.count is not null

)

select * from final
