create schema verify;

create table verify.intervals (
    org_id varchar,
    resource varchar,
    activity_date date,
    is_landed boolean
)
