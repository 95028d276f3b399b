-- Where what was served is not what is documented: one row per day, path and kind.
-- A day that is served as documented is one row without a path.
create or replace temp table base_rows (
    org_id varchar,
    resource varchar,
    activity_date date,
    made_from varchar,
    path varchar,
    kind varchar,
    expected varchar,
    served_type varchar,
    served_length bigint,
    occurrences bigint,
    request_id varchar
)
