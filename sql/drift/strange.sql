-- The days with items that may not be as documented, whether all of a day are, and
-- the bytes of those that are.
select
    cast(activity_date as varchar) as day,
    bool_and(is_strange) as is_whole,
    cast(sum(strlen(item)) filter (where is_strange) as double) as bytes
from (
{{ read_back }}
) as read_back
group by 1
having bool_or(is_strange)
