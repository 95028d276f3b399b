-- The items before any is read. `alike` is the shape that an item comes back from.
select
    activity_date,
    item_place(page, ordinal) as place,
    item,
    cast(null as integer) as alike
from raw
