-- Differences from the documentation, with the type and the length of the first
-- value of each day, and never the value, because an unknown field can hold personal
-- data. `type`: another type, still read; `unreadable`: NULL in the warehouse;
-- `rounded`: credits with more than six digits behind the point; `unknown`: not read;
-- `unnamed`: the key is missing, null or empty; `surrogate`: half of a surrogate
-- pair, which no other encoding can hold.
with

served as (

{{ served }}

),

texts as (

    select
        candidates.org_id,
        candidates.activity_date,
        candidates.place,
        candidates.path,
        candidates.expected,
        candidates.kind,
        candidates.occurrences,
        ltrim(served.text, chr(1)) as text,
        case
            when starts_with(served.text, chr(1)) then 'DOUBLE'
            else coalesce(served.type, candidates.type)
        end as type,
        case
            when not starts_with(served.text, chr(1)) then served.length
        end as length
    from candidates
    left join served
        on served.object = candidates.object
        and served.org_id = candidates.org_id
        and served.activity_date = candidates.activity_date
        and served.place = candidates.place
        and served.key is not distinct from candidates.key
        and (candidates.kind is null or candidates.kind = 'unknown')

),

judged as (

    select
        *,
        case
            when kind is not null then kind
            when type is null then 'unreadable'
            when expected in ('array', 'object') then 'unreadable'
            when expected = 'integer' and to_count(text) is null
            then 'unreadable'
            when expected = 'number' and to_ratio(text) is null
            then 'unreadable'
            when expected = 'boolean' and to_boolean(text) is null
            then 'unreadable'
            when expected = 'decimal' and to_credits(text) is null
            then 'unreadable'
            when expected = 'decimal' and not is_exact_credits(text)
            then 'rounded'
            when not list_contains(accepted_types(expected), type)
            then 'type'
        end as found_kind
    from texts

),

halves as (

    select
        org_id,
        activity_date,
        '$' as path,
        'surrogate' as kind,
        min(place) as place,
        cast(null as varchar) as expected,
        cast(null as varchar) as served_type,
        cast(null as bigint) as served_length,
        count(*) as occurrences
    from items
    where has_halves
    group by 1, 2

),

found as (

    select
        org_id,
        activity_date,
        path,
        found_kind as kind,
        min(place) as place,
        min(expected) as expected,
        min_by(type_name(type), place) as served_type,
        arg_min_null(length, place) as served_length,
        max(case when kind is not null then occurrences end) as occurrences
    from judged
    where found_kind is not null
    group by 1, 2, 3, 4

    union all

    select * from halves

),

firsts as (

    select * from found
    qualify row_number() over (
        partition by org_id, activity_date
        order by path, kind
    ) <= 100

)

select
    firsts.org_id,
    firsts.activity_date,
    firsts.path,
    firsts.kind,
    firsts.expected,
    firsts.served_type,
    cast(firsts.served_length as bigint) as served_length,
    cast(firsts.occurrences as bigint) as occurrences,
    items.request_id
from firsts
left join items
    on items.org_id = firsts.org_id
    and items.activity_date = firsts.activity_date
    and items.place = firsts.place - firsts.place % 10000000
