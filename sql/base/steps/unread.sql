-- The items before any is read. `alike` is the shape that an item comes back from,
-- and `known` what base reads of it.
select
    *,
    cast(null as integer) as alike,
    cast(null as {{ type }}) as known
from raw
