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
order by 1, 2, 3, 4;

comment on table meta.schema_drift is
    'One row per organisation, resource, field and kind of difference between the served and the documented data; at most 100 per day and resource. Values are not recorded.';
comment on column meta.schema_drift.org_id is
    'The platform''s id of the organisation.';
comment on column meta.schema_drift.resource is
    'The requested resource, e.g. users or tokens_by_model.';
comment on column meta.schema_drift.path is
    'The path of the field: $ is the row, [] any element of an array, * any key of an object or a key that does not look like a field name.';
comment on column meta.schema_drift.kind is
    'unknown: not documented, and not read; missing: documented, but not served (NULL here); type: served with another JSON type, but readable; unreadable: cannot be read as the documented type (NULL here); overflow: the entries of a user and model add up to more than a BIGINT can hold (NULL here); repeated: different rows of a day have the same key (the date, if a day has one row), and only the last one is read; rounded: credits with more than six decimal places, rounded to the sixth (a count with a fraction is unreadable); unnamed: the name or id of the row or element is missing, null or empty, so it counts as (unattributed) or not at all; surrogate: half of a surrogate pair, spelled as its escape. A field that is null is no difference.';
comment on column meta.schema_drift.expected is
    'The documented type: integer (a count), decimal (credits), number, string, boolean, array or object. NULL: the field is not documented.';
comment on column meta.schema_drift.first_day is
    'The first day with the difference, UTC.';
comment on column meta.schema_drift.last_day is
    'The last day with the difference, UTC.';
comment on column meta.schema_drift.days is
    'The number of days with the difference.';
comment on column meta.schema_drift.served_type is
    'The JSON type of the first value on the first day. NULL: no value was served.';
comment on column meta.schema_drift.served_length is
    'The greatest length of the first values of the days: characters of a string, or elements of an array. NULL: neither was served.';
comment on column meta.schema_drift.occurrences is
    'How often it occurred on all days. NULL: not counted, because some of its values can be read.';
comment on column meta.schema_drift.request_id is
    'The platform''s id of the request that served the first value. NULL: it gave none.'
