create or replace table meta.schema_drift as
select
    org_id,
    resource,
    path,
    kind,
    max_by(expected, activity_date) as expected,
    min_by(served_type, activity_date) as served_type,
    max(served_length) as served_length,
    min(activity_date) as first_day,
    max(activity_date) as last_day,
    count(*) as days,
    cast(sum(occurrences) as bigint) as occurrences,
    min_by(request_id, activity_date) as request_id
from {{ source }}
where path is not null
group by 1, 2, 3, 4
order by 1, 2, 3, 4
