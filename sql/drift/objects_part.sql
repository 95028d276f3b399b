-- Objects of the items: one a field holds.
select
    activity_date,
    place,
    json_extract(item, {{ path }}) as object
from items
where json_type(item, {{ path }}) = 'OBJECT'
