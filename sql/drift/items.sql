-- The items that may differ from the documentation; NULL if an item is not JSON.
-- Numbers that are text here, because a double would respell them, begin with
-- U+0001. `within` is set for items whose nested objects must be examined too.
create or replace temp {{ relation }} as
select
    org_id,
    activity_date,
    place,
    exact(item, '\u0001') as item,
    case when is_unlike then exact(item, '\u0001') end as within,
    not is_valid and item is not null as has_halves,
    request_id,
    stands_for
from (
    select
        org_id,
        activity_date,
        place,
        readable(item) as item,
        json_valid(item) as is_valid,
        request_id,
        stands_for,
        not is_alike as is_unlike
    from strange
) as items_read
