-- One row per entry of `by_model`, repeated entries too.
with

entries as (

    select
        org_id,
        activity_date,
        unnest(item.by_model) as entry,
        fetched_at
    from parsed

)

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
where
    entry.model_id is not null
    or entry.model is not null
    or entry.model_tier is not null
    or entry.billable_tokens is not null
    or entry.input_tokens is not null
    or entry.output_tokens is not null
