-- One row per org, day and group of `tools_by_name`; a later one wins.
with

entries as (

    select
        org_id,
        activity_date,
        page,
        ordinal,
        read_item(item, '{
            "group_key": "VARCHAR",
            "tool_calls": "VARCHAR"
        }') as entry,
        fetched_at
    from raw

),

latest as (

    select * from entries
    qualify entry.group_key is null or row_number() over (
        partition by org_id, activity_date, entry.group_key
        order by page desc, ordinal desc
    ) = 1

),

final as (

    select
        org_id,
        activity_date,
        entry.group_key,
        tool_key(entry.group_key) as tool_key,
        is_tool_name(entry.group_key) as is_clean_name,
        to_count(entry.tool_calls) as tool_calls,
        fetched_at
    from latest

)

select * from final
