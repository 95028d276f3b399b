with

source as (

    select * from {{ source('platform', 'sessions') }}

),

renamed as (

    select
        org_id,
        activity_date,
        session_id,
        status,
        message_count,
        created_at,
        updated_at,
        completed_at,
        title,
        computer_id,
        model_id,
        spec_model_id,
        assistant_active_ms,
        input_tokens,
        output_tokens,
        cache_creation_tokens,
        cache_read_tokens,
        thinking_tokens,
        service_credits,
        inclusive_input_tokens,
        inclusive_output_tokens,
        inclusive_cache_creation_tokens,
        inclusive_cache_read_tokens,
        inclusive_thinking_tokens,
        inclusive_service_credits,
        archived_at,
        tag_names,
        child_count,
        fetched_at
    from source

)

select * from renamed
