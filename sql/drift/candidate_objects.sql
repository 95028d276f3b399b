-- The keys and objects that have to be examined.
select
    object,
    key,
    cast(place as varchar) as place
from candidates
where kind is null or kind = 'unknown'
order by all
