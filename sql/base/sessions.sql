-- One row per org, day and session of `sessions`; a later one wins.
with

served as (

    select
        org_id,
        activity_date,
        page,
        ordinal,
        asked_for(request, 'sessions') as asked,
        read_item(item, '{
            "sessionId": "VARCHAR",
            "status": "VARCHAR",
            "messageCount": "VARCHAR",
            "createdAt": "VARCHAR",
            "updatedAt": "VARCHAR",
            "completedAt": "VARCHAR",
            "title": "VARCHAR",
            "computerId": "VARCHAR",
            "sessionSettings": {
                "model": "VARCHAR",
                "specModeModel": "VARCHAR",
                "assistantActiveTimeMs": "VARCHAR",
                "tokenUsage": {
                    "inputTokens": "VARCHAR",
                    "outputTokens": "VARCHAR",
                    "cacheCreationTokens": "VARCHAR",
                    "cacheReadTokens": "VARCHAR",
                    "thinkingTokens": "VARCHAR",
                    "serviceCredits": "VARCHAR"
                },
                "inclusiveTokenUsage": {
                    "inputTokens": "VARCHAR",
                    "outputTokens": "VARCHAR",
                    "cacheCreationTokens": "VARCHAR",
                    "cacheReadTokens": "VARCHAR",
                    "thinkingTokens": "VARCHAR",
                    "serviceCredits": "VARCHAR"
                },
                "childInclusiveTokenUsageBySessionId": "MAP(VARCHAR, VARCHAR)",
                "archivedAt": "VARCHAR",
                "tags": [{"name": "VARCHAR"}]
            }
        }') as session,
        fetched_at
    from raw

),

named_sessions as (

    select
        *,
        coalesce(nullif(session.sessionId, ''), asked) as session_id
    from served

),

latest as (

    select * from named_sessions
    qualify session_id is null or row_number() over (
        partition by org_id, activity_date, session_id
        order by fetched_at desc, page desc, ordinal desc
    ) = 1

),

spread as (

    select
        *,
        session.sessionSettings as settings,
        session.sessionSettings.tokenUsage as own,
        session.sessionSettings.inclusiveTokenUsage as inclusive
    from latest

),

final as (

    select
        org_id,
        activity_date,
        session_id,
        nullif(session.status, '') as status,
        to_count(session.messageCount) as message_count,
        from_ms(session.createdAt) as created_at,
        from_ms(session.updatedAt) as updated_at,
        from_ms(session.completedAt) as completed_at,
        nullif(session.title, '') as title,
        nullif(session.computerId, '') as computer_id,
        nullif(settings.model, '') as model_id,
        nullif(settings.specModeModel, '') as spec_model_id,
        to_count(settings.assistantActiveTimeMs) as assistant_active_ms,
        to_count(own.inputTokens) as input_tokens,
        to_count(own.outputTokens) as output_tokens,
        to_count(own.cacheCreationTokens) as cache_creation_tokens,
        to_count(own.cacheReadTokens) as cache_read_tokens,
        to_count(own.thinkingTokens) as thinking_tokens,
        to_count(own.serviceCredits) as service_credits,
        to_count(inclusive.inputTokens) as inclusive_input_tokens,
        to_count(inclusive.outputTokens) as inclusive_output_tokens,
        to_count(
            inclusive.cacheCreationTokens
        ) as inclusive_cache_creation_tokens,
        to_count(inclusive.cacheReadTokens) as inclusive_cache_read_tokens,
        to_count(inclusive.thinkingTokens) as inclusive_thinking_tokens,
        to_count(inclusive.serviceCredits) as inclusive_service_credits,
        to_time(settings.archivedAt) as archived_at,
        tag_list(settings.tags) as tag_names,
        cast(
            cardinality(settings.childInclusiveTokenUsageBySessionId) as bigint
        ) as child_count,
        fetched_at
    from spread

)

select * from final
