-- The first value that is not of the type of its column.
select
    csv_line,
    {{ column }} as value
from {{ texts }}
where {{ column }} is not null and not coalesce({{ is_right }}, false)
order by csv_line
limit 1
