-- Drift in all months by the key that identifies it, with its last day and, if it is
-- not reported yet, with the message. Drift that ended before the last known day is
-- past. A reported difference is reported again when it returns after more known days
-- without it than ever before, so that a difference that comes and goes is not reported
-- every time, or when no day before its return has it any more.
with

days as (

    select * from read_parquet({{ files }}, hive_partitioning = false)

),

reported as (

    select unnest({{ reported }}, recursive := true)

),

known_days as (

    select
        resource,
        activity_date,
        row_number() over (
            partition by resource
            order by activity_date
        ) as number,
        max(activity_date) over (partition by resource) as last_known_day
    from days
    group by 1, 2

),

drift as (

    select
        days.*,
        concat_ws(' ', resource, path, kind) as key,
        known_days.last_known_day,
        known_days.number - lag(known_days.number) over (
            partition by resource, path, kind
            order by activity_date
        ) - 1 as days_without
    from days
    inner join known_days using (resource, activity_date)
    where path is not null

),

episodes as (

    select
        *,
        days_without is null or days_without > coalesce(max(days_without) over (
            partition by key
            order by activity_date
            rows between unbounded preceding and 1 preceding
        ), 0) as is_return
    from drift

),

since as (

    select
        episodes.key,
        reported.key is not null as is_again,
        case
            when reported.key is null then min(activity_date)
            else min(activity_date) filter (
                where is_return and activity_date > reported.until
            )
        end as first_day
    from episodes
    left join reported using (key)
    group by episodes.key, reported.key

),

news as (

    select
        key,
        resource,
        path,
        kind,
        max_by(expected, activity_date) as expected,
        max_by(served_type, activity_date) as served_type,
        is_again,
        first_day,
        max(activity_date) as last_day,
        max(activity_date) < max(last_known_day) as is_past,
        count(*) as days
    from drift
    inner join since using (key)
    where first_day is null or activity_date >= first_day
    group by all

)

select
    key,
    kind,
    cast(last_day as varchar) as until,
    {{ org_id }} || ': ' || path || ' of ' || resource || case kind
        when 'unknown'
        then ' (' || served_type || ') is not documented, and ignored: served'
        when 'missing' then ': not served'
        when 'type'
        then ' is documented as ' || expected || ', and can be read, but is served as '
            || served_type
        when 'rounded' then ' has more than six decimal places, and is rounded: served'
        when 'unnamed' then ' is missing, null or empty: rows without a name'
        when 'overflow'
        then ' adds up to more than a BIGINT can hold, and is NULL: repeated entries'
        when 'repeated'
        then ' is the same in different rows of one day, and only the last one is read: served'
        when 'surrogate'
        then ' holds half a character, spelled as its escape: served'
        else ' (' || coalesce(expected, 'object')
            || ') cannot be read, and is NULL: '
            || coalesce('served as ' || served_type, 'no JSON')
    end || case when is_again then ' again' else '' end || case
        when is_past and first_day = last_day then ' on ' || first_day
        when is_past then ' ' || first_day || ' to ' || last_day
        else ' since ' || first_day
    end || case
        when is_past and first_day = last_day then ''
        when days = 1 then ', 1 day'
        else ', ' || days || ' days'
    end as message -- NULL without a first day
from news
-- one of each kind first, the most severe kind first
order by
    row_number() over (
        partition by kind, first_day is null
        order by key
    ),
    list_position(
        [
            'overflow',
            'unreadable',
            'repeated',
            'unnamed',
            'surrogate',
            'rounded',
            'type',
            'missing',
            'unknown'
        ],
        kind
    ),
    key
