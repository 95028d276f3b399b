-- The fields of the first object of each kind in one item, in their order. By
-- hand: `json_structure` takes a call for each level, and its thread ends with
-- the process where an item is nested deep.
select [{{ fields }}] as fields
from (
    select item
    from raw
    limit 1
) as sample
