-- Values that are not in the list. NULL is no value.
select
    {{ column_name }},
    count(*) as row_count
from {{ model }}
where
    {{ column_name }} is not null
    and {{ column_name }} not in ({{ values }})
group by {{ column_name }}
