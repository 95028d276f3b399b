-- What each version says: one row per version, key and metric that is not NULL.
create or replace temp table served (
    activity_date date,
    file varchar,
    entity_key varchar,
    metric varchar,
    value varchar
)
