-- One row per key of `tool_autonomy_level_ratio`, whatever the keys.
with

days as (

    select
        org_id,
        activity_date,
        page,
        ordinal,
        read_item(item, '{
            "tool_autonomy_level_ratio": "MAP(VARCHAR, VARCHAR)"
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
        unnest(map_entries(day.tool_autonomy_level_ratio)) as entry,
        fetched_at
    from days

),

final as (

    select
        org_id,
        activity_date,
        entry.key as level_key,
        to_ratio(entry.value) as share,
        fetched_at
    from entries
    semi join newest_rows() using (org_id, activity_date, page, ordinal)

)

select * from final
