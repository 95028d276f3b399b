-- One row per org, day and user of `usage_limits`. Spellings of an address that
-- differ in case or in white space around it are one user; a later one wins.
with

days as (

    select
        org_id,
        activity_date,
        page,
        ordinal,
        read_item(item, '{
            "userLimits": [{"email": "VARCHAR", "limit": "VARCHAR"}]
        }') as limits,
        fetched_at
    from raw

),

latest as (

    select * from days
    qualify row_number() over (
        partition by org_id, activity_date
        order by fetched_at desc, page desc, ordinal desc
    ) = 1

),

entries as (

    select
        org_id,
        activity_date,
        unnest(limits.userLimits) as entry,
        generate_subscripts(limits.userLimits, 1) as place,
        fetched_at
    from latest

),

final as (

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

)

select * from final
