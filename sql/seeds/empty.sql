-- The first record without a value.
select record
from ({{ texts }})
where {{ column }} is null
order by record
limit 1
