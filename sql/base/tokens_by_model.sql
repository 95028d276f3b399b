-- One row per org, day and group of `tokens_by_model`.
select
    org_id,
    activity_date,
    item.group_key,
    to_credits(item.billable_tokens) as billable_tokens,
    to_count(item.input_tokens) as input_tokens,
    to_count(item.output_tokens) as output_tokens,
    fetched_at
from parsed
