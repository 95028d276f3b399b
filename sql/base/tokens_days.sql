-- One row per org and day of `tokens`. `day_digest` is of the whole day as
-- served, its users and models included.
with

days as (

    select
        org_id,
        activity_date,
        page,
        ordinal,
        read_item(item, '{
            "billable_tokens": "VARCHAR",
            "input_tokens": "VARCHAR",
            "output_tokens": "VARCHAR",
            "cache_read_tokens": "VARCHAR",
            "cache_write_tokens": "VARCHAR"
        }') as day,
        left(md5(item), 12) as day_digest,
        fetched_at
    from raw

),

final as (

    select
        org_id,
        activity_date,
        to_credits(day.billable_tokens) as billable_tokens,
        to_count(day.input_tokens) as input_tokens,
        to_count(day.output_tokens) as output_tokens,
        to_count(day.cache_read_tokens) as cache_read_tokens,
        to_count(day.cache_write_tokens) as cache_write_tokens,
        day_digest,
        fetched_at
    from days
    semi join newest_rows() using (org_id, activity_date, page, ordinal)

)

select * from final
