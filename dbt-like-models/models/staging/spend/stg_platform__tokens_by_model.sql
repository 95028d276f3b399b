select
    org_id,
    activity_date,
    coalesce(nullif(group_key, ''), '(unattributed)') as model_id,
    billable_tokens,
    input_tokens,
    output_tokens,
    fetched_at
from {{ source('platform', 'tokens_by_model') }}
