select
    org_id,
    activity_date,
    session_id,
    message_id,
    role,
    source,
    visibility,
    parent_id,
    created_at,
    updated_at,
    block_count,
    text_block_count,
    text_length,
    is_user_visible,
    is_error,
    fetched_at
from {{ source('platform', 'messages') }}
