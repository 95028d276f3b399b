select
    org_id,
    activity_date,
    revision,
    setting,
    value,
    value_key,
    fetched_at
from {{ source('platform', 'controls_policies') }}
