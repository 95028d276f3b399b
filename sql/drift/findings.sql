-- What is not as documented, with the first value of each day. `type`: another
-- type, read all the same; `unreadable`: NULL in the warehouse; `rounded`: not a
-- whole number; `unknown`: not read at all.
with

served as (

{{ served }}

),

texts as (

    select
        suspects.activity_date,
        suspects.place,
        suspects.path,
        suspects.expected,
        suspects.is_missing,
        served.value,
        served.text,
        served.type
    from suspects
    left join served
        on served.object = suspects.object
        and served.activity_date = suspects.activity_date
        and served.place = suspects.place
        and served.key = suspects.key
        and not suspects.is_missing

),

judged as (

    select
        *,
        case
            when is_missing then 'missing'
            when expected is null then 'unknown'
            when value is null then 'unreadable'
            when expected in ('array', 'object') then 'unreadable'
            when expected = 'integer' and to_count(text) is null
            then 'unreadable'
            when expected = 'number' and to_ratio(text) is null
            then 'unreadable'
            when
                expected = 'integer'
                and try_cast(text as decimal(38, 9)) <> to_count(text)
            then 'rounded'
            when not list_contains(accepted_types(expected), type)
            then 'type'
        end as kind
    from texts

),

firsts as (

    select
        activity_date,
        path,
        kind,
        min(place) as place,
        min(expected) as expected,
        min_by(
            case
                when length(value) > 100 then value[1:100] || '…'
                else value
            end,
            place
        ) as example
    from judged
    where kind is not null
    group by 1, 2, 3
    qualify row_number() over (
        partition by activity_date
        order by path, kind
    ) <= 100

)

select
    firsts.activity_date,
    firsts.path,
    firsts.kind,
    firsts.expected,
    firsts.example,
    items.request_id
from firsts
left join items
    on items.activity_date = firsts.activity_date
    and items.place = firsts.place - firsts.place % 10000000
