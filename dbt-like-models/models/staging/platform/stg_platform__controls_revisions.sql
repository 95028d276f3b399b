select
    org_id,
    activity_date,
    revision,
    updated_at,
    actor_id,
    actor_email,
    actor_name,
    settings,
    fetched_at
from {{ source('platform', 'controls_revisions') }}
