-- The first number below the least one.
select
    csv_line,
    {{ column }} as value
from {{ texts }}
where cast({{ column }} as {{ type }}) < {{ minimum }}
order by csv_line
limit 1
