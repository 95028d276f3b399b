select
    org_id,
    activity_date,
    revision,
    settings_path,
    value_json,
    is_redacted,
    fetched_at
from {{ source('platform', 'controls_settings') }}
