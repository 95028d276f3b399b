-- Each version against the one before it. A key that a day names several times
-- is one: its counts and credits are added up, of other values the greatest stands.
-- No sum is too large: text with more digits than base has for a number is no number.
with

summed as (

    select
        activity_date,
        file,
        entity_key,
        metric,
        case
            when count(*) = 1 then min(value)
            when bool_and(regexp_full_match(value, '-?[0-9]{1,22}([.][0-9]+)?'))
            then credits_text(sum(try_cast(value as decimal(28, 6))))
            else max(value)
        end as value
    from served
    group by 1, 2, 3, 4

),

neighbours as (

    select
        summed.activity_date,
        summed.entity_key,
        summed.metric,
        summed.value,
        versions.number,
        versions.versions,
        lag(versions.number) over keys as number_before,
        lag(summed.value) over keys as value_before,
        lead(versions.number) over keys as number_after
    from summed
    inner join versions
        on versions.activity_date = summed.activity_date
        and versions.file = summed.file
    window keys as (
        partition by summed.activity_date, summed.entity_key, summed.metric
        order by versions.number
    )

),

-- said for the first time, again after a version without it, or otherwise
said as (

    select
        activity_date,
        entity_key,
        metric,
        case
            when number_before = number - 1 then value_before
        end as old_value,
        value as new_value,
        number
    from neighbours
    where number > 1
        and (number_before is distinct from number - 1 or value_before <> value)

),

gone as (

    select
        activity_date,
        entity_key,
        metric,
        value as old_value,
        cast(null as varchar) as new_value,
        number + 1 as number
    from neighbours
    where number < versions
        and number_after is distinct from number + 1

),

changes as (

    select * from said

    union all

    select * from gone

)

select
    changes.activity_date,
    changes.entity_key,
    changes.metric,
    changes.old_value,
    changes.new_value,
    older.fetched_at as old_fetched_at,
    newer.fetched_at as new_fetched_at
from changes
inner join versions as older
    on older.activity_date = changes.activity_date
    and older.number = changes.number - 1
inner join versions as newer
    on newer.activity_date = changes.activity_date
    and newer.number = changes.number
