-- The first number or date that a cast reads, but is none: inf, nan, 1e999.
select
    record,
    {{ column }} as value
from ({{ texts }})
where not isfinite(cast({{ column }} as {{ type }}))
order by record
limit 1
