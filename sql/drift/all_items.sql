-- The items of the batch, with their places in their days.
select
    org_id,
    activity_date,
    item_place(page, ordinal) as place,
    item,
    request_id
from raw
