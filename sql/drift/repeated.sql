-- Items with the same key and day that base reads differently: the last one wins,
-- and the others are left out. Equal items lose nothing.
select
    org_id,
    activity_date,
    {{ path }} as path,
    'repeated' as kind,
    'string' as expected,
    'string' as served_type,
    cast(null as bigint) as served_length,
    cast(sum(occurrences) as bigint) as occurrences,
    min(request_id) as request_id
from (
    select
        org_id,
        activity_date,
        count(distinct item) - 1 as occurrences,
        max_by(request_id, place) as request_id
    from parsed
    semi join repeated_keys using (org_id, activity_date, row_key)
    where {{ is_named }}
    group by org_id, activity_date, row_key
    having count(distinct item) > 1
) as differing
group by 1, 2
