create or replace temp table shapes (
    object varchar,
    activity_date date,
    own_type varchar,
    keys varchar[],
    types varchar[],
    unread bigint,
    inexact bigint,
    is_unnamed boolean,
    objects bigint,
    place bigint
)
