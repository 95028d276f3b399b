-- The days with items that may not be as documented, and whether all of a day are.
select
    cast(activity_date as varchar) as day,
    bool_and(is_strange) as is_whole
from (
{{ read_back }}
) as read_back
group by 1
having bool_or(is_strange)
