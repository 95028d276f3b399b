-- Rows without a value.
select *
from {{ model }}
where {{ column_name }} is null
