-- Which keys of which objects have to be looked at.
select
    object,
    key,
    cast(place as varchar) as place
from suspects
where not is_missing
order by all
