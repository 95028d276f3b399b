-- One row per org, day and group of `tokens_by_model`; a later one wins.
with

entries as (

    select
        org_id,
        activity_date,
        page,
        ordinal,
        read_item(item, '{
            "group_key": "VARCHAR",
            "billable_tokens": "VARCHAR",
            "input_tokens": "VARCHAR",
            "output_tokens": "VARCHAR"
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
        to_credits(entry.billable_tokens) as billable_tokens,
        to_count(entry.input_tokens) as input_tokens,
        to_count(entry.output_tokens) as output_tokens,
        fetched_at
    from latest

)

select * from final
