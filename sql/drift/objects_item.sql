-- Objects of the items: the items themselves.
select
    activity_date,
    place,
    stands_for,
    item as object
from items
