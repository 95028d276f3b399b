-- The distinct shapes of one kind of object on each day: its keys, the types
-- of their values, a bit for each number that cannot be read or may not be the
-- whole number that it should be, and whether the object's key is missing, null or
-- empty. `place` is that of the first such object.
select
    {{ object }} as object,
    org_id,
    activity_date,
    own_type,
    keys,
    types,
    unread,
    inexact,
    is_unnamed,
    sum(stands_for) as objects,
    min(place) as place
from (
    select
        org_id,
        activity_date,
        place,
        stands_for,
        {{ own_type }} as own_type,
        json_keys(object) as keys,
        json_type(object, '$.*') as types,
        {{ unread }} as unread,
        {{ inexact }} as inexact,
        {{ is_unnamed }} as is_unnamed
    from (
        select
            org_id,
            activity_date,
            place,
            stands_for,
            object,
            from_json(object, {{ numbers }}) as numbers
        from (
{{ objects }}
        ) as objects
    ) as numbered
) as shaped
group by all
