-- What is documented of the objects in the items of a resource.
select
    object,
    field,
    type,
    is_promised,
    is_key
from expected
where resource = {{ resource }}
order by 1, 2
