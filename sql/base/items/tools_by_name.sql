-- Groups of `tools_by_name`; a later one wins.
with

served as (

    select
        org_id,
        activity_date,
        {'page': page, 'ordinal': ordinal} as place,
        read_item(item, '{
            "group_key": "VARCHAR",
            "tool_calls": "VARCHAR"
        }') as item,
        fetched_at
    from raw

),

final as (

    select
        *,
        item.group_key as row_key
    from served

)

select * from final
