comment on table meta.build is
    'One row: what this file was built from.';
comment on column meta.build.run_id is
    'The run that built it.';
comment on column meta.build.built_at is
    'When it was built, UTC.';
comment on column meta.build.as_of is
    'It holds what was known at this time, UTC: versions fetched later are left out. NULL: all that has landed.'
