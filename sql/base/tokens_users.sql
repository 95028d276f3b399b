-- One row per org, day and user of `by_user`; repeated entries add up. Entries without
-- a user are one row, NULL.
with

entries as (

    select
        org_id,
        activity_date,
        unnest(item.by_user) as entry,
        fetched_at
    from parsed

),

typed as (

    select
        org_id,
        activity_date,
        named(entry.user_id) as user_id,
        nullif(entry.user_email, '') as user_email,
        to_credits(entry.billable_tokens) as billable_tokens,
        to_count(entry.input_tokens) as input_tokens,
        to_count(entry.output_tokens) as output_tokens,
        fetched_at
    from entries
    where
        entry.user_id is not null
        or entry.user_email is not null
        or entry.billable_tokens is not null
        or entry.input_tokens is not null
        or entry.output_tokens is not null

)

select
    org_id,
    activity_date,
    user_id,
    max(user_email) as user_email,
    sum(billable_tokens) as billable_tokens,
    sum_of_counts(input_tokens) as input_tokens,
    sum_of_counts(output_tokens) as output_tokens,
    max(fetched_at) as fetched_at
from typed
group by 1, 2, 3
order by 1, 2, 3
