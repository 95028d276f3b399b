-- Compares each version with the one before it. If a day lists a key several
-- times, its counts, credits and shares are added up, and of other values the greatest
-- is used. No sum is too large, because text with more digits than base stores
-- is not a number.
with

said as (

    select * exclude (is_repeated) from served
    where not is_repeated

    union all by name

    select
        activity_date,
        number,
        entity_key,
        metric,
        case
            when count(*) = 1 then min(value)
            when metric = 'autonomy_ratio' then max_by(value, try_cast(value as double))
            when bool_and(regexp_full_match(value, '-?[0-9]{1,22}([.][0-9]+)?'))
            then credits_text(sum(try_cast(value as decimal(28, 6))))
            else max(value)
        end as value
    from served
    where is_repeated
    group by 1, 2, 3, 4

),

changes as (

    select
        activity_date,
        entity_key,
        metric,
        number,
        older.value as old_value,
        newer.value as new_value
    from said as newer
    full join (
        select
            activity_date,
            entity_key,
            metric,
            number + 1 as number,
            value
        from said
    ) as older using (activity_date, entity_key, metric, number)
    where older.value is distinct from newer.value

)

select
    {{ org_id }} as org_id,
    changes.activity_date,
    changes.entity_key,
    changes.metric,
    changes.old_value,
    changes.new_value,
    older.fetched_at as old_fetched_at,
    newer.fetched_at as new_fetched_at
from changes
-- the first version is no change, and the last one has no successor
inner join versions as older
    on older.activity_date = changes.activity_date
    and older.number = changes.number - 1
inner join versions as newer
    on newer.activity_date = changes.activity_date
    and newer.number = changes.number
