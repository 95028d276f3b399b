-- The items that match none of the shapes compared so far.
select
    org_id,
    activity_date,
    place,
    item,
    request_id
from compared
where alike is null
