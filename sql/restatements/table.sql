-- What the platform has said otherwise before: one row per change of a metric.
-- A day whose versions differ in nothing that is read is one row without a metric.
create or replace temp table base_rows (
    org_id varchar,
    resource varchar,
    activity_date date,
    made_from varchar,
    entity_key varchar,
    metric varchar,
    old_value varchar,
    new_value varchar,
    old_fetched_at timestamptz,
    new_fetched_at timestamptz
)
