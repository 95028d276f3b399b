-- The first number that a cast would round.
select
    record,
    {{ column }} as value
from ({{ texts }})
where not regexp_full_match(trim({{ column }}), '[+-]?\d+(\.0*)?')
order by record
limit 1
