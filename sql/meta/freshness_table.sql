-- How fresh the sources were.
create or replace table meta.source_freshness (
    source_name varchar,
    table_name varchar,
    loaded_at timestamptz,
    checked_at timestamptz,
    warn_after_seconds bigint,
    error_after_seconds bigint,
    status varchar
);

comment on table meta.source_freshness is
    'One row per source table with a freshness rule: the age of its newest row when this file was built.';
comment on column meta.source_freshness.source_name is 'The source, e.g. platform.';
comment on column meta.source_freshness.table_name is 'The table of the source.';
comment on column meta.source_freshness.loaded_at is 'When its newest row was fetched, UTC. NULL: the table is empty.';
comment on column meta.source_freshness.checked_at is 'When the freshness was checked, UTC.';
comment on column meta.source_freshness.warn_after_seconds is 'The age from which on a build warns, in seconds. NULL: never.';
comment on column meta.source_freshness.error_after_seconds is 'The age from which on the status is error, in seconds. NULL: never. The file is published nevertheless.';
comment on column meta.source_freshness.status is 'pass, warn or error, in a warehouse of an earlier point in time as of then; pass for an empty table.'
