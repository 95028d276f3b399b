-- The distinct shapes of one kind of object on each day: its keys and the types
-- of their values, and by bit which of its numbers cannot be read or may not be
-- the whole number that they should be, and whether what the object is
-- told apart by is missing, null or empty. `place` is that of the first such object.
insert into shapes by name
select
    {{ object }} as object,
    activity_date,
    own_type,
    keys,
    types,
    unread,
    inexact,
    is_unnamed,
    count(*) as objects,
    min(place) as place
from (
    select
        activity_date,
        place,
        {{ own_type }} as own_type,
        json_keys(object) as keys,
        json_type(object, '$.*') as types,
        {{ unread }} as unread,
        {{ inexact }} as inexact,
        {{ is_unnamed }} as is_unnamed
    from (
        select
            activity_date,
            place,
            object,
            from_json(object, {{ numbers }}) as numbers
        from (
{{ objects }}
        ) as objects
    ) as numbered
) as shaped
group by all
