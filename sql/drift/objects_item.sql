-- Objects of the items: the items themselves.
select
    org_id,
    activity_date,
    place,
    stands_for,
    item as object
from items
