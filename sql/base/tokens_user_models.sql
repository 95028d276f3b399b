-- One row per org, day, user and model of `by_user`; repeated entries add up. Entries
-- without a user, or without a model, count as one user or model, NULL.
with

users as (

    select
        org_id,
        activity_date,
        unnest(item.by_user) as consumer,
        fetched_at
    from parsed

),

entries as (

    select
        org_id,
        activity_date,
        consumer.user_id,
        unnest(consumer.by_model) as entry,
        fetched_at
    from users

),

typed as (

    select
        org_id,
        activity_date,
        named(user_id) as user_id,
        named(coalesce(nullif(entry.model_id, ''), entry.model)) as model_id,
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

)

select
    org_id,
    activity_date,
    user_id,
    model_id,
    max(model_tier) as model_tier,
    sum(billable_tokens) as billable_tokens,
    sum_of_counts(input_tokens) as input_tokens,
    sum_of_counts(output_tokens) as output_tokens,
    max(fetched_at) as fetched_at
from typed
group by 1, 2, 3, 4
order by 1, 2, 3, 4
