with

sessions as (

    select * from {{ ref('stg_platform__sessions') }}

),

children as (

    select * from {{ ref('stg_platform__session_children') }}

),

ranked as (

    select
        *,
        row_number() over (
            partition by org_id, session_id
            order by fetched_at desc, activity_date desc
        ) as landing_rank
    from sessions
    where session_id is not null

),

parents as (

    select
        org_id,
        child_session_id,
        min(session_id) as parent_session_id
    from children
    where session_id != child_session_id
    group by 1, 2

),

final as (

    select
        ranked.org_id,
        ranked.session_id,
        parents.parent_session_id,
        ranked.status,
        ranked.message_count,
        ranked.created_at,
        ranked.updated_at,
        ranked.completed_at,
        ranked.title,
        ranked.computer_id,
        ranked.model_id,
        ranked.spec_model_id,
        ranked.assistant_active_ms,
        ranked.input_tokens,
        ranked.output_tokens,
        ranked.cache_creation_tokens,
        ranked.cache_read_tokens,
        ranked.thinking_tokens,
        ranked.service_credits,
        ranked.inclusive_input_tokens,
        ranked.inclusive_output_tokens,
        ranked.inclusive_cache_creation_tokens,
        ranked.inclusive_cache_read_tokens,
        ranked.inclusive_thinking_tokens,
        ranked.inclusive_service_credits,
        ranked.archived_at,
        ranked.tag_names,
        ranked.child_count,
        ranked.fetched_at
    from ranked
    left join parents
        on ranked.org_id = parents.org_id
        and ranked.session_id = parents.child_session_id
    where ranked.landing_rank = 1

)

select * from final
