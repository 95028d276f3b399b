select
    org_id,
    activity_date,
    computer_id,
    computer_name,
    provider_type,
    created_at_raw,
    created_at,
    host_id,
    hostname,
    status,
    remote_user,
    fetched_at
from {{ source('platform', 'computers') }}
