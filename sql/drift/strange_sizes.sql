-- The bytes of all items to examine and of the longest, NULL if there are none, and
-- whether some round-trip through no shape.
select
    cast(sum(strlen(item)) as double) as bytes,
    cast(max(strlen(item)) as double) as longest,
    bool_or(alike is null) as has_unlike
from strange
