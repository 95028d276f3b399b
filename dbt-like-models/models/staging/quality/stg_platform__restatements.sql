select
    org_id,
    resource,
    activity_date,
    entity_key,
    metric,
    old_value,
    new_value,
    old_fetched_at,
    new_fetched_at
from {{ source('platform', 'restatements') }}
where metric is not null
