-- The first record without a value.
select
    csv_line,
    null as value
from {{ texts }}
where {{ column }} is null
order by csv_line
limit 1
