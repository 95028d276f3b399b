-- Objects of the items: the elements of an array, or the fields of a map.
select
    org_id,
    activity_date,
    place + unnest(range(1, len(elements) + 1)) as place,
    stands_for,
    unnest(elements) as object
from (
    select
        org_id,
        activity_date,
        place,
        stands_for,
        json_extract(within, {{ path }}) as elements
    from items
) as arrays
