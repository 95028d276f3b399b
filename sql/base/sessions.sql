-- One row per org, day and session of `sessions`; a later one wins.
with

spread as (

    select
        *,
        item.sessionSettings as settings,
        item.sessionSettings.tokenUsage as own,
        item.sessionSettings.inclusiveTokenUsage as inclusive
    from parsed

)

select
    org_id,
    activity_date,
    session_id,
    nullif(item.status, '') as status,
    to_count(item.messageCount) as message_count,
    from_ms(item.createdAt) as created_at,
    from_ms(item.updatedAt) as updated_at,
    from_ms(item.completedAt) as completed_at,
    nullif(item.title, '') as title,
    nullif(item.computerId, '') as computer_id,
    nullif(settings.model, '') as model_id,
    nullif(settings.specModeModel, '') as spec_model_id,
    to_count(settings.assistantActiveTimeMs) as assistant_active_ms,
    to_count(own.inputTokens) as input_tokens,
    to_count(own.outputTokens) as output_tokens,
    to_count(own.cacheCreationTokens) as cache_creation_tokens,
    to_count(own.cacheReadTokens) as cache_read_tokens,
    to_count(own.thinkingTokens) as thinking_tokens,
    to_credits(own.serviceCredits) as service_credits,
    to_count(inclusive.inputTokens) as inclusive_input_tokens,
    to_count(inclusive.outputTokens) as inclusive_output_tokens,
    to_count(
        inclusive.cacheCreationTokens
    ) as inclusive_cache_creation_tokens,
    to_count(inclusive.cacheReadTokens) as inclusive_cache_read_tokens,
    to_count(inclusive.thinkingTokens) as inclusive_thinking_tokens,
    to_credits(inclusive.serviceCredits) as inclusive_service_credits,
    to_time(settings.archivedAt) as archived_at,
    tag_list(settings.tags) as tag_names,
    cast(
        cardinality(settings.childInclusiveTokenUsageBySessionId) as bigint
    ) as child_count,
    fetched_at
from spread
