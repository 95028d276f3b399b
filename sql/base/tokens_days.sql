-- One row per org and day of `tokens`. `day_digest` names the version of the
-- whole day, its users and models included.
select
    org_id,
    activity_date,
    to_credits(item.billable_tokens) as billable_tokens,
    to_count(item.input_tokens) as input_tokens,
    to_count(item.output_tokens) as output_tokens,
    to_count(item.cache_read_tokens) as cache_read_tokens,
    to_count(item.cache_write_tokens) as cache_write_tokens,
    day_digest,
    fetched_at
from parsed
