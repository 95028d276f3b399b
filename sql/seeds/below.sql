-- The first number below the least one.
select
    record,
    {{ column }} as value
from ({{ texts }})
where cast({{ column }} as {{ type }}) < {{ minimum }}
order by record
limit 1
