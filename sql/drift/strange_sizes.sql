-- The bytes of the items to look at and of the longest, NULL where there are none, and
-- whether some come back from no shape.
select
    cast(sum(strlen(item)) as double) as bytes,
    cast(max(strlen(item)) as double) as longest,
    bool_or(alike is null) as has_unlike
from strange
