-- The items, each with whether it may not be as documented: whether it does not
-- come back letter by letter from the documented shape, its ratios being numbers.
select
    *,
    not coalesce(
        cast(to_json(read) as varchar) = item and {{ has_numbers }},
        false
    ) as is_strange
from (
    select
        *,
        try(from_json(item, {{ shape }})) as read
    from raw
) as items_read
