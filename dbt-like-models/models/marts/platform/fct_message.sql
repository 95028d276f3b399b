select
    org_id,
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
from (
    {{ last_landed('stg_platform__messages', ['session_id', 'message_id']) }}
) as messages
