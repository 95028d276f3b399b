-- Drift of the days that were just read that no month had before, in words.
with

news as (

    select
        resource,
        path,
        kind,
        min(expected) as expected,
        min(activity_date) as first_day,
        min_by(example, activity_date) as example
    from base_rows
    where path is not null
        and made_from in (select unnest({{ made_from }}))
        and (resource, path, kind) not in ({{ known }})
    group by 1, 2, 3

)

select
    {{ org_id }} || ': ' || path || ' of ' || resource || case kind
        when 'unknown' then ' is a field that is not documented and not read'
        when 'missing' then ' is missing'
        when 'type' then ' is not of type ' || expected || ', and is read'
        when 'rounded' then ' is no whole number, and is rounded'
        else ' cannot be read as ' || expected || ', and is NULL'
    end || ', since ' || first_day || coalesce(', e.g. ' || example, '')
from news
order by resource, path, kind
