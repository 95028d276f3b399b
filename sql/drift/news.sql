-- Drift in all months that was not reported before, in words, and the key by which
-- it is remembered. What ended before the last day that is known is past.
with

days as (

    select * from read_parquet({{ files }}, hive_partitioning = false)

),

known_until as (

    select
        resource,
        max(activity_date) as last_day
    from days
    group by 1

),

drift as (

    select
        resource,
        path,
        kind,
        max_by(expected, activity_date) as expected,
        max_by(served_type, activity_date) as served_type,
        min(activity_date) as first_day,
        max(activity_date) as last_day,
        count(*) as days
    from days
    where path is not null
    group by 1, 2, 3

),

told as (

    select
        concat_ws(' ', drift.resource, drift.path, drift.kind) as key,
        drift.last_day < known_until.last_day as is_past,
        drift.*
    from drift
    inner join known_until using (resource)

)

select
    key,
    {{ org_id }} || ': ' || path || ' of ' || resource || case kind
        when 'unknown'
        then ' (' || served_type || ') is not documented and not read: served'
        when 'missing' then ': not served'
        when 'type'
        then ' (' || expected || ') is read although it is: ' || served_type
        when 'rounded' then ' has more than six digits behind the point, and is rounded: served'
        when 'unnamed' then ' is missing, null or empty: rows without a name'
        when 'surrogate'
        then ' holds half a character, spelled as its escape: served'
        else ' (' || coalesce(expected, 'object')
            || ') cannot be read, and is NULL: '
            || coalesce('served as ' || served_type, 'no JSON')
    end || case
        when is_past and first_day = last_day then ' on ' || first_day
        when is_past then ' ' || first_day || ' to ' || last_day
        else ' since ' || first_day
    end || case
        when is_past and first_day = last_day then ''
        when days = 1 then ', 1 day'
        else ', ' || days || ' days'
    end as message
from told
where key not in (select unnest({{ told }}))
order by key
