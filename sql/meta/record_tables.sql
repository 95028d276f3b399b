-- The pipeline's own record: what is known of every day, and the runs.
create or replace table meta.intervals (
    org_id varchar,
    resource varchar,
    activity_date date,
    status varchar,
    is_settled boolean,
    is_suspect boolean,
    fetched_at timestamptz,
    row_count bigint,
    versions bigint,
    attempts bigint,
    request_id varchar,
    error varchar,
    is_recoverable boolean
);

create or replace table meta.runs (
    run_id varchar,
    command varchar,
    version varchar,
    status varchar,
    exit_code bigint,
    started_at timestamptz,
    finished_at timestamptz,
    days_landed bigint,
    days_empty bigint,
    days_unchanged bigint,
    days_failed bigint,
    requests bigint
);

create or replace table meta.build (
    run_id varchar,
    built_at timestamptz,
    as_of timestamptz
);

comment on table meta.intervals is
    'One row per organisation, resource and day from 2026-01-14 to the last known day; of what is not analytics, the days on which it was asked for, and the nights a snapshot was missed.';
comment on column meta.intervals.org_id is 'The platform''s id of the organisation.';
comment on column meta.intervals.resource is 'What was asked for, e.g. users or tokens_by_model.';
comment on column meta.intervals.activity_date is 'The day, UTC; of what is not analytics, the day it was fetched, and of hook events the day they were recorded.';
comment on column meta.intervals.status is
    'landed: rows are here; empty: the platform answered with no rows; failed: the last request failed; missing: never fetched.';
comment on column meta.intervals.is_settled is
    'True when every scheduled recheck of the day (after 1, 2, 3, 7, 14 and 30 days) is done; of what is not analytics, when the day is over.';
comment on column meta.intervals.is_suspect is
    'True when the last recheck found the settled day empty or less than half as large: its rows stay until a second recheck confirms it.';
comment on column meta.intervals.fetched_at is
    'When the current version was last seen to be what the platform serves, by the platform''s clock. NULL: never fetched.';
comment on column meta.intervals.row_count is 'Rows of the current version; users for the resource users. NULL: never fetched.';
comment on column meta.intervals.versions is 'Versions of the day in the lake.';
comment on column meta.intervals.attempts is 'Times the day was asked for, failures counted. NULL in a warehouse as it was known before: not on record.';
comment on column meta.intervals.request_id is 'The platform''s id of the last request. NULL: it named none.';
comment on column meta.intervals.error is 'Why the last attempt failed. NULL: it did not.';
comment on column meta.intervals.is_recoverable is 'False for a night whose snapshot (usage_limits, computers) was not fetched: it is over, and no later run can fill it in.';
comment on table meta.runs is 'One row per run of a command that writes, the publishing run included.';
comment on column meta.runs.run_id is 'Names the run everywhere: here, in raw rows, in runs/<run_id>.json.';
comment on column meta.runs.command is 'The command, e.g. run.';
comment on column meta.runs.version is 'The version of agent-warehouse.';
comment on column meta.runs.status is 'complete, partial, deferred, refused, checks_failed, usage, failed, or killed.';
comment on column meta.runs.exit_code is 'The exit code; of the publishing run, what it came to when it published. NULL: the run was killed.';
comment on column meta.runs.started_at is 'When the run began, UTC.';
comment on column meta.runs.finished_at is 'When the run ended, UTC; of the publishing run, when it published. NULL: the run was killed.';
comment on column meta.runs.days_landed is 'Resource days landed with rows that were not here before.';
comment on column meta.runs.days_empty is 'Resource days that the platform answered with no rows, new to the lake.';
comment on column meta.runs.days_unchanged is 'Resource days rechecked and found unchanged.';
comment on column meta.runs.days_failed is 'Resource days whose requests failed.';
comment on column meta.runs.requests is 'Requests answered by the platform.';

comment on table meta.build is
    'One row: what this file was built from.';
comment on column meta.build.run_id is
    'The run that built it.';
comment on column meta.build.built_at is
    'When it was built, UTC.';
comment on column meta.build.as_of is
    'It holds what was known at this time, UTC: versions fetched later are left out. NULL: all that has landed.'
