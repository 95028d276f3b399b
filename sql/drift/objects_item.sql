-- Objects of the items: the items themselves.
select
    activity_date,
    place,
    item as object
from items
