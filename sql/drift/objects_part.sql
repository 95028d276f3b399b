-- Objects of the items: the object in a field.
select
    org_id,
    activity_date,
    place,
    stands_for,
    json_extract(within, {{ path }}) as object
from items
where json_type(within, {{ path }}) = 'OBJECT'
