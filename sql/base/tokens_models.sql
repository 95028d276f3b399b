-- One row per entry of `by_model`, repeated entries too.
with

days as (

    select
        org_id,
        activity_date,
        page,
        ordinal,
        read_item(item, '{
            "by_model": [{
                "model_id": "VARCHAR",
                "model": "VARCHAR",
                "model_tier": "VARCHAR",
                "billable_tokens": "VARCHAR",
                "input_tokens": "VARCHAR",
                "output_tokens": "VARCHAR"
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
        unnest(day.by_model) as entry,
        fetched_at
    from days

),

final as (

    select
        org_id,
        activity_date,
        coalesce(nullif(entry.model_id, ''), entry.model) as model_id,
        entry.model_tier,
        to_credits(entry.billable_tokens) as billable_tokens,
        to_count(entry.input_tokens) as input_tokens,
        to_count(entry.output_tokens) as output_tokens,
        fetched_at
    from entries
    semi join newest_rows() using (org_id, activity_date, page, ordinal)
    where
        entry.model_id is not null
        or entry.model is not null
        or entry.model_tier is not null
        or entry.billable_tokens is not null
        or entry.input_tokens is not null
        or entry.output_tokens is not null

)

select * from final
