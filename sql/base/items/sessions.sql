-- Sessions of a day as `sessions` served them last.
with

served as (

    select
        org_id,
        activity_date,
        {
            'fetched_at': fetched_at, 'page': page, 'ordinal': ordinal
        } as place,
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
        }') as item,
        fetched_at
    from raw

),

final as (

    select
        * exclude (asked),
        coalesce(nullif(item.sessionId, ''), asked) as session_id,
        session_id as row_key
    from served

)

select * from final
