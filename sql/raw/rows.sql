select
    item,
    ordinal,
    page,
    epoch_ms(fetched_at) as fetched_at,
    request,
    request_id,
    run_id
from {{ rows }}
order by fetched_at, page, ordinal
