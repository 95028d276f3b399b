select item
from {{ rows }}
where page = {{ page }}
order by ordinal
