-- The first record without a value.
select min(record) as record
from ({{ texts }})
where {{ column }} is null
having count(*) > 0
