-- Counts of users, and of their models, whose repeated entries of one day add
-- up to more than fits: base has NULL for them, although each entry can be
-- read. Only items with numbers that long are read. (No sum of credits of a day
-- is too large.)
with

users as (

    select
        org_id,
        activity_date,
        request_id,
        '$.by_user[]' as object,
        unnest(item.by_user) as entry
    from parsed
    where has_large_numbers
        and (org_id, activity_date, place) in (
            select
                org_id,
                activity_date,
                max(place)
            from parsed
            group by 1, 2
        )

),

models as (

    select
        org_id,
        activity_date,
        request_id,
        '$.by_user[].by_model[]' as object,
        named(entry.user_id) as user_id,
        unnest(entry.by_model) as entry
    from users

),

entries as (

    select
        org_id,
        activity_date,
        request_id,
        object,
        named(entry.user_id) as user_id,
        cast(null as varchar) as model_id,
        entry.input_tokens,
        entry.output_tokens
    from users

    union all

    select
        org_id,
        activity_date,
        request_id,
        object,
        user_id,
        named(coalesce(nullif(entry.model_id, ''), entry.model)) as model_id,
        entry.input_tokens,
        entry.output_tokens
    from models

),

counts as (

    unpivot (
        select
            org_id,
            activity_date,
            request_id,
            object,
            user_id,
            model_id,
            to_count(input_tokens) as input_tokens,
            to_count(output_tokens) as output_tokens
        from entries
    ) on input_tokens, output_tokens into name field value count

),

sums as (

    select
        org_id,
        activity_date,
        object || '.' || field as path,
        min(request_id) as request_id
    from counts
    group by org_id, activity_date, object, field, user_id, model_id
    having sum_of_counts(count) is null

)

select
    org_id,
    activity_date,
    path,
    'overflow' as kind,
    'integer' as expected,
    'integer' as served_type,
    cast(null as bigint) as served_length,
    count(*) as occurrences,
    min(request_id) as request_id
from sums
group by 1, 2, 3
