-- The days with items that may not be as documented, their bytes, those of the
-- longest one, and whether some come back from no shape.
select
    cast(activity_date as varchar) as day,
    cast(sum(bytes) as double) as bytes,
    cast(max(bytes) as double) as longest,
    bool_or(alike is null) as has_unlike
from strange
where alike is distinct from 0
group by 1
