select
    org_id,
    activity_date,
    billable_tokens,
    input_tokens,
    output_tokens,
    cache_read_tokens,
    cache_write_tokens,
    day_digest,
    fetched_at
from {{ source('platform', 'tokens_days') }}
