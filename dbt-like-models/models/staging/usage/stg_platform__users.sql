with

source as (

    select * from {{ source('platform', 'users') }}

),

renamed as (

    select
        org_id,
        activity_date,
        coalesce(nullif(user_id, ''), '(unattributed)') as user_id,
        user_email,
        tool_calls,
        billable_tokens,
        files_created,
        files_edited,
        git_commits,
        git_prs_created,
        mcp_calls,
        skill_calls,
        slash_commands,
        hooks,
        sessions,
        messages,
        user_messages,
        assistant_messages,
        nullif(primary_model, '') as primary_model,
        primary_model_tier,
        autonomy_ratio,
        replace(lower(trim(delegation_level)), '_', '-') as delegation_level,
        day_digest,
        fetched_at
    from source

)

select * from renamed
