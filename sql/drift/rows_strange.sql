-- The rows of the items that may not be as documented, each with how many it stands
-- for, and whether it comes back from no shape.
select
    raw.activity_date,
    raw.item,
    raw.request_id,
    strange.place,
    strange.stands_for,
    strange.alike is null as is_unlike
from raw
inner join strange
    on strange.activity_date = raw.activity_date
    and strange.place = item_place(raw.page, raw.ordinal)
    and strange.alike is distinct from 0
