-- The items, each with whether it may not be as documented: whether it does not
-- come back letter by letter from the documented shape, its ratios being numbers
-- and nothing that objects are told apart by being null or empty.
select
    *,
    not coalesce(
        cast(to_json(read) as varchar) = item and {{ has_numbers }},
        false
    ) or regexp_matches(item, {{ unnamed }}) as is_strange
from (
    select
        *,
        try(from_json(item, {{ shape }})) as read
    from raw
) as items_read
