-- Values that more than one row has. NULL is no value.
select
    {{ column_name }},
    count(*) as row_count
from {{ model }}
where {{ column_name }} is not null
group by {{ column_name }}
having count(*) > 1
