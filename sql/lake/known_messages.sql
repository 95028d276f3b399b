-- The last known state of every message.
select
    session_id,
    message_id,
    try_cast(try(json_extract_string(readable(item), '$.updatedAt')) as double)
        as updated_ms,
    epoch_ms(fetched_at) as fetched_ms
from (
    select
        url_decode(regexp_extract(
            request,
            '^[^?#]*/sessions/([^/?#]+)',
            1
        )) as session_id,
        url_decode(regexp_extract(
            request,
            '^[^?#]*/messages/([^/?#]+)',
            1
        )) as message_id,
        item,
        fetched_at
    from {{ rows }}
)
qualify row_number() over (
    partition by session_id, message_id
    order by fetched_at desc
) = 1
order by fetched_ms, session_id, message_id
