with

parents as (

    select
        org_id,
        child_session_id,
        min(session_id) as parent_session_id
    from {{ ref('stg_platform__session_children') }}
    where session_id != child_session_id
    group by 1, 2

),

final as (

    select
        sessions.org_id,
        sessions.session_id,
        parents.parent_session_id,
        sessions.status,
        sessions.message_count,
        sessions.created_at,
        sessions.updated_at,
        sessions.completed_at,
        sessions.title,
        sessions.computer_id,
        sessions.model_id,
        sessions.spec_model_id,
        sessions.assistant_active_ms,
        sessions.input_tokens,
        sessions.output_tokens,
        sessions.cache_creation_tokens,
        sessions.cache_read_tokens,
        sessions.thinking_tokens,
        sessions.service_credits,
        sessions.inclusive_input_tokens,
        sessions.inclusive_output_tokens,
        sessions.inclusive_cache_creation_tokens,
        sessions.inclusive_cache_read_tokens,
        sessions.inclusive_thinking_tokens,
        sessions.inclusive_service_credits,
        sessions.archived_at,
        sessions.tag_names,
        sessions.child_count,
        sessions.fetched_at
    from (
        {{ last_landed('stg_platform__sessions', ['session_id']) }}
    ) as sessions
    left join parents
        on sessions.org_id = parents.org_id
        and sessions.session_id = parents.child_session_id

)

select * from final
