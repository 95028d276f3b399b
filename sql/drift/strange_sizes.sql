-- The bytes of all items to examine and of the longest, NULL if there are none, and
-- whether some do not round-trip.
select
    cast(sum(strlen(item)) as double) as bytes,
    cast(max(strlen(item)) as double) as longest,
    bool_or(not is_alike) as has_unlike
from strange
