select
    org_id,
    activity_date,
    coalesce(nullif(model_id, ''), '(unattributed)') as model_id,
    model_tier,
    billable_tokens,
    input_tokens,
    output_tokens,
    fetched_at
from {{ source('platform', 'tokens_models') }}
