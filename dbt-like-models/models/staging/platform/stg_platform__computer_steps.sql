select
    org_id,
    activity_date,
    computer_id,
    step_id,
    step_name,
    status,
    error,
    started_at,
    completed_at,
    install_session_id,
    fetched_at
from {{ source('platform', 'computer_steps') }}
