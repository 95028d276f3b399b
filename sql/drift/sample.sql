-- The fields of one item, in their order; an array has those of all its elements.
select try(json_structure(item)) as sample
from raw
limit 1
