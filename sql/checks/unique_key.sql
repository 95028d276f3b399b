-- Keys of several columns that more than one row has.
select
    {{ columns }},
    count(*) as row_count
from {{ model }}
group by {{ columns }}
having count(*) > 1
