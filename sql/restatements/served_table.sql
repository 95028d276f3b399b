-- The values in each version: one row per version, key and metric that is not
-- NULL.
create or replace temp table served (
    activity_date date,
    number bigint,
    entity_key varchar,
    is_repeated boolean,
    metric varchar,
    value varchar
)
