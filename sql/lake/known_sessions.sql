-- The last known state of every session, with its child sessions.
select
    session_id,
    try(json_extract_string(item, '$.status')) as status,
    try_cast(try(json_extract_string(item, '$.updatedAt')) as double)
        as updated_ms,
    epoch_ms(fetched_at) as fetched_ms,
    coalesce(
        try(json_keys(
            item,
            '$.sessionSettings.childInclusiveTokenUsageBySessionId'
        )),
        []
    ) as children
from (
    select
        url_decode(regexp_extract(
            request,
            '^[^?#]*/sessions/([^/?#]+)',
            1
        )) as session_id,
        readable(item) as item,
        fetched_at
    from {{ rows }}
)
qualify row_number() over (
    partition by session_id
    order by fetched_at desc
) = 1
order by fetched_ms, session_id
