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

insert into meta.intervals by name
select * exclude (is_analytics)
from {{ intervals }}
order by all;

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
    'One row per organisation, resource and day. Analytics: every day from 2026-01-14 to the last known day. Other resources: the days on which they were requested, and the nights on which a snapshot was missed.';
comment on column meta.intervals.org_id is 'The platform''s id of the organisation.';
comment on column meta.intervals.resource is 'The requested resource, e.g. users or tokens_by_model.';
comment on column meta.intervals.activity_date is 'The day, UTC. Other resources than analytics: the day of the fetch; hook events: the day on which they were recorded.';
comment on column meta.intervals.status is
    'landed: the lake has its rows; empty: the platform answered without rows; failed: requested, but it has not landed; missing: never requested, or its file is gone.';
comment on column meta.intervals.is_settled is
    'True if every scheduled recheck of the day (after 1, 2, 3, 7, 14 and 30 days) is done. Other resources than analytics: true if the day is over.';
comment on column meta.intervals.is_suspect is
    'True if the last recheck found the settled day empty or less than half as large. Its rows stay until a second recheck confirms that.';
comment on column meta.intervals.fetched_at is
    'When the platform last served the current version, by the platform''s clock. NULL: never fetched.';
comment on column meta.intervals.row_count is 'Rows of the current version; for the resource users, the number of users. NULL: never fetched.';
comment on column meta.intervals.versions is 'Versions of the day in the lake.';
comment on column meta.intervals.attempts is 'How often the day was requested, failures included. NULL in a warehouse of an earlier point in time: not recorded.';
comment on column meta.intervals.request_id is 'The platform''s id of the last request. NULL: it gave none.';
comment on column meta.intervals.error is 'Why the last attempt failed. NULL: it succeeded.';
comment on column meta.intervals.is_recoverable is 'False for a past night whose snapshot (usage_limits, computers) was not fetched: no later run can fetch it.';
comment on table meta.runs is 'One row per run of a command that writes, including the run that published this file.';
comment on column meta.runs.run_id is 'The id of the run, also in raw rows and in the name of runs/<run_id>.json.';
comment on column meta.runs.command is 'The command, e.g. run.';
comment on column meta.runs.version is 'The version of agent-warehouse.';
comment on column meta.runs.status is 'complete, partial, deferred, refused, checks_failed, usage, failed, or killed.';
comment on column meta.runs.exit_code is 'The exit code; for the run that published this file, as of publishing. NULL: the run was killed.';
comment on column meta.runs.started_at is 'When the run began, UTC.';
comment on column meta.runs.finished_at is 'When the run ended, UTC; for the run that published this file, when it published. NULL: the run was killed.';
comment on column meta.runs.days_landed is 'Resource days that landed with new rows.';
comment on column meta.runs.days_empty is 'Resource days that landed without rows, because the platform had none.';
comment on column meta.runs.days_unchanged is 'Resource days that a recheck found unchanged.';
comment on column meta.runs.days_failed is 'Resource days whose requests failed.';
comment on column meta.runs.requests is 'Requests answered by the platform.';

comment on table meta.build is
    'One row: the origin of this file.';
comment on column meta.build.run_id is
    'The run that built it.';
comment on column meta.build.built_at is
    'When it was built, UTC.';
comment on column meta.build.as_of is
    'The point in time of its data, UTC: versions fetched later are left out. NULL: all that has landed.'
