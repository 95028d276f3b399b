-- The newest item of every key, and every item without one.
select
    key,
    sha256(item) as hash
from (
    select
        try(json_extract_string(readable(item), {{ key }})) as key,
        item,
        fetched_at,
        page,
        ordinal
    from {{ rows }}
) as items
qualify key is null
    or row_number() over (
        partition by key
        order by fetched_at desc, page desc, ordinal desc
    ) = 1
