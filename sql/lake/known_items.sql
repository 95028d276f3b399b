-- The newest item of every key, and every item without a key. As in `keyIn`, a key
-- is a number or a text that is not empty.
select
    key,
    sha256(item) as hash
from (
    select
        case
            when
                try(json_type(readable(item), {{ key }}))
                in ('VARCHAR', 'UBIGINT', 'BIGINT', 'DOUBLE')
            then nullif(try(json_extract_string(readable(item), {{ key }})), '')
        end as key,
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
