-- The documented fields of the objects in the items of each resource.
select
    resource,
    object,
    field,
    type,
    is_promised,
    is_key
from expected
order by 1, 2, 3
