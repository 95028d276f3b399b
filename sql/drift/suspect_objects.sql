-- Which keys of which objects have to be looked at.
select
    object,
    key,
    cast(place as varchar) as place
from suspects
where kind is null or kind = 'unknown'
order by all
