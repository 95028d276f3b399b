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
    'One row per organisation, resource, field and kind of difference between what is served and what is documented; at most 100 a day and resource. No value is recorded.';
comment on column meta.schema_drift.org_id is
    'The platform''s id of the organisation.';
comment on column meta.schema_drift.resource is
    'What was asked for, e.g. users or tokens_by_model.';
comment on column meta.schema_drift.path is
    'The path to the field: $ is the row, [] any element of an array, * any key of an object, or a name that is not like a field''s.';
comment on column meta.schema_drift.kind is
    'unknown: not documented and not read; missing: documented and not there (NULL here); type: of another JSON type, and read all the same; unreadable: cannot be read as documented (NULL here); overflow: entries of one user and model add up to more than a BIGINT holds (NULL here); repeated: rows of one day and one such key (the date, where a day is one row) differ, and the last one alone is read; rounded: credits with more than six digits behind the point, which are read to the sixth (a count with a fraction is unreadable); unnamed: what names the row or the element is missing, null or empty, and it counts as (unattributed) or not at all; surrogate: half of a surrogate pair, spelled as its escape. null is served for any field without being a difference.';
comment on column meta.schema_drift.expected is
    'The documented type: integer (a number that counts), decimal (credits), number, string, boolean, array or object. NULL: the field is not documented.';
comment on column meta.schema_drift.first_day is
    'The first day that is served so, UTC.';
comment on column meta.schema_drift.last_day is
    'The last day that is served so, UTC.';
comment on column meta.schema_drift.days is
    'Days that are served so.';
comment on column meta.schema_drift.served_type is
    'The JSON type of the first value of the first day. NULL: there is none.';
comment on column meta.schema_drift.served_length is
    'The greatest length, in characters of a string or elements of an array, of the first values of the days. NULL: neither was served.';
comment on column meta.schema_drift.occurrences is
    'How often it was met on all days. NULL: it was not counted, for some of its values are read.';
comment on column meta.schema_drift.request_id is
    'The platform''s id of the request that served the first value. NULL: it named none.'
