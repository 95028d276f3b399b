-- The rows that the platform documents: every field of every object in them,
-- and whether the documentation promises it. `[]` is any element of an array,
-- `*` any key of an object, and an empty field the element itself if it is not
-- an object. Fields that are known from elsewhere are not promised. Counts are
-- integers, credits decimals, and times numbers, because their fractions are read.
-- Any field may be null. Each number of an object has a bit, in the order of their
-- names.
create temp table if not exists expected as
with

-- Fields of one type in one object share a line.
documented as (

    select
        resource,
        object,
        unnest(string_split_regex(fields, '\s+')) as field,
        type,
        is_promised
    from (values
        ('tokens', '$', 'string', true, 'date'),
        ('tokens', '$', 'decimal', true, 'billable_tokens'),
        ('tokens', '$', 'integer', true, 'input_tokens output_tokens cache_read_tokens
            cache_write_tokens'),
        ('tokens', '$', 'array', true, 'by_model by_user'),
        ('tokens', '$.by_model[]', 'string', false, 'model_id model model_tier'),
        ('tokens', '$.by_model[]', 'decimal', false, 'billable_tokens'),
        ('tokens', '$.by_model[]', 'integer', false, 'input_tokens output_tokens'),
        ('tokens', '$.by_user[]', 'string', false, 'user_id user_email'),
        ('tokens', '$.by_user[]', 'decimal', false, 'billable_tokens'),
        ('tokens', '$.by_user[]', 'integer', false, 'input_tokens output_tokens'),
        ('tokens', '$.by_user[]', 'array', false, 'by_model'),
        ('tokens', '$.by_user[].by_model[]', 'string', false, 'model_id model model_tier'),
        ('tokens', '$.by_user[].by_model[]', 'decimal', false, 'billable_tokens'),
        ('tokens', '$.by_user[].by_model[]', 'integer', false, 'input_tokens output_tokens'),
        ('tokens_by_model', '$', 'string', true, 'date group_key'),
        ('tokens_by_model', '$', 'decimal', false, 'billable_tokens'),
        ('tokens_by_model', '$', 'integer', false, 'input_tokens output_tokens'),
        ('tools', '$', 'string', true, 'date'),
        ('tools', '$', 'integer', true, 'tool_calls mcp_users_with_mcp skills_invocations
            slash_commands_invocations hooks_invocations web_users'),
        ('tools', '$', 'number', true, 'autonomy_ratio_avg autonomy_ratio_p50 autonomy_ratio_p90
            tool_calls_per_session_avg user_turns_per_session_avg'),
        ('tools', '$', 'array', true, 'by_tool mcp_by_server skills_by_name
            slash_commands_by_name hooks_by_event'),
        ('tools', '$', 'object', true, 'tool_autonomy_level_ratio'),
        ('tools', '$.by_tool[]', 'string', true, 'tool'),
        ('tools', '$.by_tool[]', 'integer', true, 'invocations'),
        ('tools', '$.mcp_by_server[]', 'string', true, 'server'),
        ('tools', '$.mcp_by_server[]', 'integer', true, 'invocations'),
        ('tools', '$.skills_by_name[]', 'string', true, 'name'),
        ('tools', '$.skills_by_name[]', 'integer', true, 'count'),
        ('tools', '$.slash_commands_by_name[]', 'string', true, 'name'),
        ('tools', '$.slash_commands_by_name[]', 'integer', true, 'count'),
        ('tools', '$.hooks_by_event[]', 'string', true, 'event matcher command'),
        ('tools', '$.hooks_by_event[]', 'integer', true, 'count'),
        ('tools', '$.tool_autonomy_level_ratio', 'number', false, '*'),
        ('tools_by_name', '$', 'string', true, 'date group_key'),
        ('tools_by_name', '$', 'integer', true, 'tool_calls'),
        ('activity', '$', 'string', true, 'date'),
        ('activity', '$', 'integer', true, 'daily_active_users weekly_active_users
            monthly_active_users sessions messages user_messages'),
        ('activity', '$', 'object', true, 'daily_active_users_by_client'),
        ('activity', '$.daily_active_users_by_client', 'integer', false, '*'),
        ('activity_by_client', '$', 'string', true, 'date group_key'),
        ('activity_by_client', '$', 'integer', true, 'daily_active_users'),
        ('productivity', '$', 'string', true, 'date'),
        ('productivity', '$', 'integer', true, 'files_created files_edited git_commits
            git_prs_created'),
        ('productivity', '$', 'array', true, 'by_extension by_language'),
        ('productivity', '$.by_extension[]', 'string', true, 'extension'),
        ('productivity', '$.by_extension[]', 'integer', true, 'count'),
        ('productivity', '$.by_language[]', 'string', true, 'language'),
        ('productivity', '$.by_language[]', 'integer', true, 'count'),
        ('users', '$', 'string', true, 'user_id user_email date primary_model primary_model_tier
            delegation_level'),
        ('users', '$', 'integer', true, 'tool_calls files_created files_edited git_commits
            git_prs_created mcp_calls skill_calls slash_commands hooks sessions messages
            user_messages assistant_messages'),
        ('users', '$', 'decimal', true, 'billable_tokens'),
        ('users', '$', 'number', true, 'autonomy_ratio'),
        ('users', '$', 'array', true, 'languages'),
        ('users', '$.languages[]', 'string', false, ''),
        ('enterprise_controls', '$', 'integer', true, 'revision'),
        ('enterprise_controls', '$', 'object', true, 'settings'),
        ('enterprise_controls', '$', 'object', false, 'user'),
        ('enterprise_controls', '$', 'string', false, 'updatedAt'),
        ('enterprise_controls', '$.user', 'string', false, 'id email name'),
        ('enterprise_controls', '$.settings', 'object', false, 'sessionDefaultSettings
            mcpAutonomyOverrides modelPolicy mcpPolicy missionPolicy userModelPolicies
            enabledPlugins extraKnownMarketplaces networkPolicy sandbox'),
        ('enterprise_controls', '$.settings', 'string', false, 'maxAutonomyLevel'),
        ('enterprise_controls', '$.settings', 'integer', false, 'sessionRetentionDays'),
        ('enterprise_controls', '$.settings', 'boolean', false, 'cloudSessionSync wikiCloudSync
            includeCoAuthoredByAgent enableAgentShield ideAutoConnect restrictMemberVisibility
            restrictApiKeyCreationToManagers managedComputersEnabled byomComputersEnabled'),
        ('enterprise_controls', '$.settings', 'array', false, 'commandAllowlist commandDenylist
            managedComputersAllowedEmails byomComputersAllowedEmails customModels
            strictKnownMarketplaces'),
        ('enterprise_controls', '$.settings.commandAllowlist[]', 'string', false, ''),
        ('enterprise_controls', '$.settings.commandDenylist[]', 'string', false, ''),
        ('enterprise_controls', '$.settings.managedComputersAllowedEmails[]', 'string', false, ''),
        ('enterprise_controls', '$.settings.byomComputersAllowedEmails[]', 'string', false, ''),
        ('enterprise_controls', '$.settings.sessionDefaultSettings', 'string', false, 'model
            reasoningEffort interactionMode autonomyLevel autonomyMode specModeModel
            specModeReasoningEffort'),
        ('enterprise_controls', '$.settings.mcpAutonomyOverrides', 'object', false, '*'),
        ('enterprise_controls', '$.settings.mcpAutonomyOverrides.*', 'string', false, 'defaultLevel'),
        ('enterprise_controls', '$.settings.mcpAutonomyOverrides.*', 'object', false, 'tools'),
        ('enterprise_controls', '$.settings.mcpAutonomyOverrides.*.tools', 'string', false, '*'),
        ('enterprise_controls', '$.settings.customModels[]', 'string', false, 'model provider id
            baseUrl apiKey displayName reasoningEffort'),
        ('enterprise_controls', '$.settings.customModels[]', 'number', false, 'index
            maxContextLimit thinkingMaxTokens maxOutputTokens'),
        ('enterprise_controls', '$.settings.customModels[]', 'boolean', false, 'enableThinking
            noImageSupport'),
        ('enterprise_controls', '$.settings.customModels[]', 'object', false, 'extraHeaders
            extraArgs hostedCloud'),
        ('enterprise_controls', '$.settings.customModels[].extraHeaders', 'string', false, '*'),
        ('enterprise_controls', '$.settings.customModels[].extraArgs', 'any', false, '*'),
        ('enterprise_controls', '$.settings.customModels[].hostedCloud', 'string', false, 'cloudProfile cloudRegion hostedBaseUrl cloudAuthRefresh cloudCredentialExport'),
        ('enterprise_controls', '$.settings.modelPolicy', 'array', false, 'allowedModelIds
            blockedModelIds allowedBaseUrls'),
        ('enterprise_controls', '$.settings.modelPolicy.allowedModelIds[]', 'string', false, ''),
        ('enterprise_controls', '$.settings.modelPolicy.blockedModelIds[]', 'string', false, ''),
        ('enterprise_controls', '$.settings.modelPolicy.allowedBaseUrls[]', 'string', false, ''),
        ('enterprise_controls', '$.settings.modelPolicy', 'boolean', false, 'allowCustomModels
            allowAllServiceModels isFastModelsAllowed'),
        ('enterprise_controls', '$.settings.mcpPolicy', 'boolean', false, 'enabled'),
        ('enterprise_controls', '$.settings.mcpPolicy', 'array', false, 'allowlist'),
        ('enterprise_controls', '$.settings.mcpPolicy.allowlist[]', 'string', false, ''),
        ('enterprise_controls', '$.settings.missionPolicy', 'boolean', false, 'restrictedAccess'),
        ('enterprise_controls', '$.settings.missionPolicy', 'array', false, 'allowedUserIds'),
        ('enterprise_controls', '$.settings.missionPolicy.allowedUserIds[]', 'string', false, ''),
        ('enterprise_controls', '$.settings.userModelPolicies', 'object', false, '*'),
        ('enterprise_controls', '$.settings.userModelPolicies.*', 'array', false, 'allowedModelIds blockedModelIds'),
        ('enterprise_controls', '$.settings.userModelPolicies.*.allowedModelIds[]', 'string', false, ''),
        ('enterprise_controls', '$.settings.userModelPolicies.*.blockedModelIds[]', 'string', false, ''),
        ('enterprise_controls', '$.settings.enabledPlugins', 'boolean', false, '*'),
        ('enterprise_controls', '$.settings.extraKnownMarketplaces', 'object', false, '*'),
        ('enterprise_controls', '$.settings.extraKnownMarketplaces.*', 'object', false, 'source'),
        ('enterprise_controls', '$.settings.extraKnownMarketplaces.*.source', 'string', false, 'source repo url path'),
        ('enterprise_controls', '$.settings.strictKnownMarketplaces[]', 'string', false, 'source
            repo url path'),
        ('enterprise_controls', '$.settings.networkPolicy', 'array', false, 'allowedIps'),
        ('enterprise_controls', '$.settings.networkPolicy.allowedIps[]', 'string', false, ''),
        ('enterprise_controls', '$.settings.sandbox', 'boolean', false, 'enabled'),
        ('enterprise_controls', '$.settings.sandbox', 'object', false, 'filesystem network'),
        ('enterprise_controls', '$.settings.sandbox.filesystem', 'array', false, 'allowWrite
            allowRead denyWrite denyRead'),
        ('enterprise_controls', '$.settings.sandbox.filesystem.allowWrite[]', 'string', false, ''),
        ('enterprise_controls', '$.settings.sandbox.filesystem.allowRead[]', 'string', false, ''),
        ('enterprise_controls', '$.settings.sandbox.filesystem.denyWrite[]', 'string', false, ''),
        ('enterprise_controls', '$.settings.sandbox.filesystem.denyRead[]', 'string', false, ''),
        ('enterprise_controls', '$.settings.sandbox.network', 'array', false, 'allowedDomains
            allowUnixSockets'),
        ('enterprise_controls', '$.settings.sandbox.network.allowedDomains[]', 'string', false, ''),
        ('enterprise_controls', '$.settings.sandbox.network.allowUnixSockets[]', 'string', false, ''),
        ('enterprise_controls', '$.settings.sandbox.network', 'boolean', false, 'allowAllUnixSockets allowLocalBinding'),
        ('enterprise_controls', '$.settings.sandbox.network', 'number', false, 'httpProxyPort
            socksProxyPort'),
        ('usage_limits', '$', 'integer', true, 'globalLimit'),
        ('usage_limits', '$', 'array', true, 'userLimits'),
        ('usage_limits', '$.userLimits[]', 'string', true, 'email'),
        ('usage_limits', '$.userLimits[]', 'integer', true, 'limit'),
        ('readiness_reports', '$', 'string', true, 'reportId repoUrl'),
        ('readiness_reports', '$', 'number', true, 'createdAt'),
        ('readiness_reports', '$', 'object', true, 'apps report'),
        ('readiness_reports', '$', 'string', false, 'commitHash branch agentVersion'),
        ('readiness_reports', '$', 'boolean', false, 'hasLocalChanges hasNonRemoteCommits'),
        ('readiness_reports', '$', 'object', false, 'modelUsed'),
        ('readiness_reports', '$.apps', 'object', false, '*'),
        ('readiness_reports', '$.apps.*', 'string', false, 'description'),
        ('readiness_reports', '$.report', 'object', false, '*'),
        ('readiness_reports', '$.report.*', 'integer', true, 'numerator denominator'),
        ('readiness_reports', '$.report.*', 'string', true, 'rationale'),
        ('readiness_reports', '$.modelUsed', 'string', false, 'id reasoningEffort'),
        ('computers', '$', 'string', true, 'id name providerType'),
        ('computers', '$', 'number', true, 'createdAt'),
        ('computers', '$', 'string', false, 'hostId hostname status relayClientUrl relayAgentUrl
            remoteUser'),
        ('computers', '$', 'array', false, 'provisioningSteps'),
        ('computers', '$.provisioningSteps[]', 'string', false, 'id name status error
            installSessionId'),
        ('computers', '$.provisioningSteps[]', 'number', false, 'startedAt completedAt'),
        ('computer_metrics', '$', 'string', true, 'timestamp'),
        ('computer_metrics', '$', 'number', true, 'cpuUsedPct cpuCount memUsed memTotal diskUsed
            diskTotal'),
        ('sessions', '$', 'string', true, 'sessionId status'),
        ('sessions', '$', 'integer', true, 'messageCount'),
        ('sessions', '$', 'number', true, 'createdAt updatedAt'),
        ('sessions', '$', 'string', false, 'title computerId'),
        ('sessions', '$', 'number', false, 'completedAt'),
        ('sessions', '$', 'object', false, 'sessionSettings'),
        ('sessions', '$.sessionSettings', 'string', false, 'model specModeModel
            providerLockTimestamp archivedAt'),
        ('sessions', '$.sessionSettings', 'integer', false, 'assistantActiveTimeMs'),
        ('sessions', '$.sessionSettings', 'object', false, 'tokenUsage inclusiveTokenUsage
            childInclusiveTokenUsageBySessionId'),
        ('sessions', '$.sessionSettings', 'array', false, 'tags enabledToolIds disabledToolIds'),
        ('sessions', '$.sessionSettings.tokenUsage', 'integer', false, 'inputTokens outputTokens
            cacheCreationTokens cacheReadTokens thinkingTokens'),
        ('sessions', '$.sessionSettings.tokenUsage', 'decimal', false, 'serviceCredits'),
        ('sessions', '$.sessionSettings.inclusiveTokenUsage', 'integer', false, 'inputTokens
            outputTokens cacheCreationTokens cacheReadTokens thinkingTokens'),
        ('sessions', '$.sessionSettings.inclusiveTokenUsage', 'decimal', false, 'serviceCredits'),
        ('sessions', '$.sessionSettings.childInclusiveTokenUsageBySessionId', 'any', false, '*'),
        ('sessions', '$.sessionSettings.tags[]', 'string', false, 'name'),
        ('sessions', '$.sessionSettings.tags[]', 'object', false, 'metadata'),
        ('sessions', '$.sessionSettings.tags[].metadata', 'any', false, '*'),
        ('sessions', '$.sessionSettings.enabledToolIds[]', 'string', false, ''),
        ('sessions', '$.sessionSettings.disabledToolIds[]', 'string', false, ''),
        ('messages', '$', 'string', true, 'id role'),
        ('messages', '$', 'array', true, 'content'),
        ('messages', '$', 'number', true, 'createdAt updatedAt'),
        ('messages', '$', 'string', false, 'parentId userMessageSource visibility
            vendorBMessageId vendorBEncryptedContent vendorBReasoningId vendorBReasoningSummary
            vendorBPhase vendorCThoughtSignature chatCompletionReasoningField
            chatCompletionReasoningContent'),
        ('messages', '$', 'boolean', false, 'isUserVisible isError'),
        ('messages', '$.content[]', 'any', false, ''),
        ('hook_events', '$', 'string', true, 'event_id recorded_at'),
        ('hook_events', '$', 'object', true, 'input'),
        ('hook_events', '$.input', 'string', true, 'hook_event_name session_id cwd'),
        ('hook_events', '$.input', 'string', false, 'message reason')
    ) as fields (resource, object, type, is_promised, fields)

),

-- What identifies the objects of a kind: one of the fields is enough.
keys as (

    select
        resource,
        object,
        unnest(string_split(fields, ' ')) as field
    from (values
        ('tokens', '$.by_model[]', 'model_id model'),
        ('tokens', '$.by_user[]', 'user_id'),
        ('tokens', '$.by_user[].by_model[]', 'model_id model'),
        ('tokens_by_model', '$', 'group_key'),
        ('tools', '$.by_tool[]', 'tool'),
        ('tools', '$.mcp_by_server[]', 'server'),
        ('tools', '$.skills_by_name[]', 'name'),
        ('tools', '$.slash_commands_by_name[]', 'name'),
        ('tools', '$.hooks_by_event[]', 'event'),
        ('tools_by_name', '$', 'group_key'),
        ('activity_by_client', '$', 'group_key'),
        ('productivity', '$.by_extension[]', 'extension'),
        ('productivity', '$.by_language[]', 'language'),
        ('users', '$', 'user_id'),
        ('enterprise_controls', '$', 'revision'),
        ('usage_limits', '$.userLimits[]', 'email'),
        ('readiness_reports', '$', 'reportId'),
        ('computers', '$', 'id'),
        ('computers', '$.provisioningSteps[]', 'id'),
        ('computer_metrics', '$', 'timestamp'),
        ('sessions', '$', 'sessionId'),
        ('messages', '$', 'id'),
        ('hook_events', '$', 'event_id')
    ) as fields (resource, object, fields)

)

select
    documented.*,
    keys.field is not null as is_key,
    row_number() over (
        partition by
            documented.resource,
            documented.object,
            documented.type in ('integer', 'decimal', 'number')
        order by documented.field
    ) - 1 as bit
from documented
left join keys using (resource, object, field)
