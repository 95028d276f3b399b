-- No keys: DuckDB 1.0 cannot open a file in which a newer one has put a key.
create schema if not exists meta;

create table if not exists meta.check_results (
    run_id varchar,
    check_name varchar,
    model varchar,
    column_name varchar,
    severity varchar,
    status varchar,
    failures bigint,
    query varchar,
    checked_at timestamptz
);

create table if not exists meta.models (
    table_schema varchar,
    model varchar,
    materialized varchar,
    run_id varchar,
    made_by varchar,
    fingerprint varchar,
    content varchar,
    unit_tests varchar,
    engine varchar
);

create or replace table meta.columns (
    table_schema varchar,
    table_name varchar,
    column_name varchar,
    data_type varchar,
    description varchar,
    additivity varchar,
    key_position bigint,
    ordinal bigint
);

comment on table meta.check_results is
    'One row per check: its result in the last build that ran it or reused its result.';
comment on column meta.check_results.run_id is
    'The run whose build ran the check, or reused its result because no row had changed.';
comment on column meta.check_results.check_name is
    'The name of the check, e.g. not_null_fct_org_day_org_id.';
comment on column meta.check_results.model is
    'The model that it checks. NULL: it checks several.';
comment on column meta.check_results.column_name is
    'The column that it checks. NULL: it checks the whole model.';
comment on column meta.check_results.severity is
    'error: a failure prevents publishing; warn: it does not.';
comment on column meta.check_results.status is
    'pass or warn; fail only in a file that was not published.';
comment on column meta.check_results.failures is
    'The number of wrong rows.';
comment on column meta.check_results.query is
    'The statement that shows the wrong rows.';
comment on column meta.check_results.checked_at is
    'When that build wrote the results of its checks, UTC.';

comment on table meta.models is
    'One row per model: how it was built.';
comment on column meta.models.table_schema is
    'The schema of its table or view.';
comment on column meta.models.model is
    'The name of the model, and of its table or view.';
comment on column meta.models.materialized is
    'view, table, or incremental: a table in which each build replaces the days that changed.';
comment on column meta.models.run_id is
    'The run of the last build that built or reused it.';
comment on column meta.models.made_by is
    'Digest of its own SQL, settings and columns, and of the statements that make its sources.';
comment on column meta.models.fingerprint is
    'The same digest over the model and all models that it depends on. If it changes, an incremental model is built from scratch.';
comment on column meta.models.content is
    'Digest of the fingerprint and of the content of its sources: equal digests mean equal rows. NULL: unknown.';
comment on column meta.models.unit_tests is
    'Digest of its passed unit tests. NULL: it has none.';
comment on column meta.models.engine is
    'The versions of the engine and of the storage format.';

comment on table meta.columns is
    'One row per column of every table and view in this file.';
comment on column meta.columns.table_schema is
    'main for marts, staging and intermediate for their inputs, or meta.';
comment on column meta.columns.table_name is
    'The table or view.';
comment on column meta.columns.column_name is
    'The column.';
comment on column meta.columns.data_type is
    'Its type in DuckDB.';
comment on column meta.columns.description is
    'Its meaning, its unit, and the meaning of NULL.';
comment on column meta.columns.additivity is
    'How a metric may be added up. NULL: the column is no metric.';
comment on column meta.columns.key_position is
    'Its position in the key of the table, from 1. NULL: it is not part of the key.';
comment on column meta.columns.ordinal is
    'Its position in the table, from 1.';
