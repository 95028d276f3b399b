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
    'One row per table of a source that is expected to be fresh: how old its newest row was when this file was built.';
comment on column meta.source_freshness.source_name is 'The source, e.g. platform.';
comment on column meta.source_freshness.table_name is 'The table of the source.';
comment on column meta.source_freshness.loaded_at is 'When its newest row was fetched, UTC. NULL: it has none.';
comment on column meta.source_freshness.checked_at is 'When that was checked, UTC.';
comment on column meta.source_freshness.warn_after_seconds is 'Older than this is warned of, in seconds. NULL: it is not.';
comment on column meta.source_freshness.error_after_seconds is 'Older than this is an error, in seconds. NULL: it is not. The file is published all the same.';
comment on column meta.source_freshness.status is 'pass, warn or error when it was checked; pass where there is no row.'
