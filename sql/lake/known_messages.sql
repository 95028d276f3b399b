-- The last known state of every message. The unit of its times is not documented,
-- and inferred from their size, as in base.
select
    session_id,
    message_id,
    case
        when updated_at < 1e11 then updated_at * 1e3
        when updated_at < 1e14 then updated_at
        when updated_at < 1e17 then updated_at / 1e3
        else updated_at / 1e6
    end as updated_ms,
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
        try_cast(
            try(json_extract_string(readable(item), '$.updatedAt')) as double
        ) as updated_at,
        fetched_at
    from {{ rows }}
)
qualify row_number() over (
    partition by session_id, message_id
    order by fetched_at desc
) = 1
order by fetched_ms, session_id, message_id
