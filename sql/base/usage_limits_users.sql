-- One row per org, day and user of `usage_limits`. Spellings of an address that
-- differ in case or in white space around it are one user; a later one wins.
with

entries as (

    select
        org_id,
        activity_date,
        unnest(item.userLimits) as entry,
        generate_subscripts(item.userLimits, 1) as place,
        fetched_at
    from parsed

)

select
    org_id,
    activity_date,
    nullif(trimmed(entry.email), '') as user_email,
    to_count(entry.limit) as credit_limit,
    fetched_at
from entries
where entry.email is not null or entry.limit is not null
qualify row_number() over (
    partition by org_id, activity_date, lower(trimmed(entry.email))
    order by place desc
) = 1
