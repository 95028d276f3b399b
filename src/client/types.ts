/*
 * Rows of the analytics endpoints (PLATFORM_API, "Analytics rows").
 */

/**
 * What the platform serves: fields are typed as documented, and not checked. Fields that the
 * specification does not name pass through, and numbers beyond 2^53 are rounded.
 */
interface Open {
  readonly [field: string]: unknown
}

/** A documented value, or one that came later. */
export type OpenEnum<T extends string> = T | (string & Record<never, never>)

/** What one model consumed. */
export interface ModelUsage extends Open {
  readonly model_id?: string
  readonly model_tier?: string
  /** Standard Credits. */
  readonly billable_tokens?: number
  readonly input_tokens?: number
  readonly output_tokens?: number
}

/** What one user consumed. */
export interface UserUsage extends Open {
  readonly user_id?: string
  readonly user_email?: string | null
  /** Standard Credits. */
  readonly billable_tokens?: number
  readonly by_model?: readonly ModelUsage[]
}

/** One day of `/tokens`. */
export interface TokensDay extends Open {
  readonly date: string
  /** Standard Credits. */
  readonly billable_tokens?: number
  readonly input_tokens?: number
  readonly output_tokens?: number
  readonly cache_read_tokens?: number
  readonly cache_write_tokens?: number
  readonly by_model?: readonly ModelUsage[]
  readonly by_user?: readonly UserUsage[]
}

/** Invocations of one skill or slash command. */
export interface NamedCount extends Open {
  readonly name?: string
  readonly count?: number
}

/** One day of `/tools`. */
export interface ToolsDay extends Open {
  readonly date: string
  readonly tool_calls?: number
  readonly by_tool?: readonly (Open & { readonly tool: string; readonly invocations: number })[]
  /** Users who used MCP servers. */
  readonly mcp_users_with_mcp?: number
  /** One server may be listed in several spellings. */
  readonly mcp_by_server?: readonly (Open & {
    readonly server: string
    readonly invocations: number
  })[]
  readonly skills_invocations?: number
  readonly skills_by_name?: readonly NamedCount[]
  readonly slash_commands_invocations?: number
  readonly slash_commands_by_name?: readonly NamedCount[]
  readonly hooks_invocations?: number
  readonly hooks_by_event?: readonly (Open & {
    readonly event?: string
    readonly matcher?: string
    readonly command?: string
    readonly count?: number
  })[]
  /** Users of the web interface. */
  readonly web_users?: number
  /** Tool calls per user turn. */
  readonly autonomy_ratio_avg?: number
  readonly autonomy_ratio_p50?: number
  readonly autonomy_ratio_p90?: number
  readonly tool_calls_per_session_avg?: number
  readonly user_turns_per_session_avg?: number
  /** Distribution over the levels. */
  readonly tool_autonomy_level_ratio?: Readonly<
    Record<string, number> &
      Partial<Record<'auto_high' | 'auto_medium' | 'auto_low' | 'manual', number>>
  >
}

/** One day of `/activity`. */
export interface ActivityDay extends Open {
  readonly date: string
  readonly daily_active_users?: number
  /** Trailing 7 days. */
  readonly weekly_active_users?: number
  /** Trailing 30 days. */
  readonly monthly_active_users?: number
  /** By client; a user on several clients counts in each. */
  readonly daily_active_users_by_client?: Readonly<
    Record<string, number> & Partial<Record<'terminal-ui' | 'web' | 'non-interactive-cli', number>>
  >
  readonly sessions?: number
  readonly messages?: number
  readonly user_messages?: number
}

/** One day of `/productivity`. */
export interface ProductivityDay extends Open {
  readonly date: string
  readonly files_created?: number
  readonly files_edited?: number
  readonly by_extension?: readonly (Open & { readonly extension: string; readonly count: number })[]
  readonly by_language?: readonly (Open & { readonly language: string; readonly count: number })[]
  readonly git_commits?: number
  readonly git_prs_created?: number
}

/** One user on one day, from `/users`. */
export interface UserDay extends Open {
  readonly user_id: string
  readonly user_email?: string | null
  readonly date: string
  readonly tool_calls?: number
  /** Standard Credits. */
  readonly billable_tokens?: number
  readonly files_created?: number
  readonly files_edited?: number
  readonly git_commits?: number
  readonly git_prs_created?: number
  readonly mcp_calls?: number
  readonly skill_calls?: number
  readonly slash_commands?: number
  readonly hooks?: number
  readonly sessions?: number
  readonly messages?: number
  readonly user_messages?: number
  readonly assistant_messages?: number
  /** The model that the user used most. */
  readonly primary_model?: string
  readonly primary_model_tier?: OpenEnum<'standard' | 'thinking'>
  /** Tool calls per user turn. */
  readonly autonomy_ratio?: number
  readonly delegation_level?: OpenEnum<'auto-high' | 'auto-medium' | 'auto-low' | 'spec' | 'manual'>
  readonly languages?: readonly string[]
}

/** One row of a grouped response. */
export interface GroupedRow extends Open {
  readonly date: string
  /** The model, the tool or the client. */
  readonly group_key: string
}

/** One model on one day, from `/tokens` by model. */
export interface ModelDay extends GroupedRow {
  /** Standard Credits. */
  readonly billable_tokens?: number
  readonly input_tokens?: number
  readonly output_tokens?: number
}

/*
 * Entity resources, which are not analytics (PLATFORM_API, "Resources and their fields").
 */

/** One revision of the enterprise controls. `settings` is a snapshot, not a difference. */
export interface ControlChange extends Open {
  readonly revision: number
  /** Properties may be added, removed or renamed between API versions. May carry secrets. */
  readonly settings: Readonly<Record<string, unknown>>
  /** Who made the change. */
  readonly user?: Open & {
    readonly id?: string
    readonly email?: string
    readonly name?: string
  }
  /** ISO 8601. */
  readonly updatedAt?: string
}

/** A page of the history, newest revision first. */
export interface ControlsPage extends Open {
  readonly changes: readonly ControlChange[]
  readonly pagination?: Open & { readonly hasMore?: boolean; readonly nextCursor?: string | null }
}

/** The limit of one user, in credits; null: their own limit was removed. */
export interface UserLimit extends Open {
  readonly email: string
  readonly limit: number | null
}

/** The global limit, and the limits of users who have their own. */
export interface UsageLimits extends Open {
  /** The limit of every user without their own, in credits; null is no limit. */
  readonly globalLimit: number | null
  readonly userLimits: readonly UserLimit[]
}

/** Which of the requested limits were set. */
export interface UserLimitsResult extends Open {
  readonly updated: readonly UserLimit[]
  /** Users whose limit was not set, and why. */
  readonly errors: readonly (Open & { readonly email: string; readonly error: string })[]
}

/** The result of one criterion of a readiness report. */
export interface CriterionEvaluation extends Open {
  /** Sub-applications that pass, 0 to the denominator; null if the criterion was skipped. */
  readonly numerator: number | null
  /** At least 1. */
  readonly denominator: number
  readonly rationale?: string
}

/** A readiness report of one repository. */
export interface ReadinessReport extends Open {
  /** UUID. */
  readonly reportId: string
  /** Unix time, milliseconds. */
  readonly createdAt: number
  readonly repoUrl: string
  /** By path of the application. */
  readonly apps?: Readonly<Record<string, Open & { readonly description?: string }>>
  /** By id of the criterion. */
  readonly report?: Readonly<Record<string, CriterionEvaluation>>
  readonly commitHash?: string
  readonly branch?: string
  /** There were uncommitted changes. */
  readonly hasLocalChanges?: boolean
  /** There were commits that were not pushed. */
  readonly hasNonRemoteCommits?: boolean
  readonly modelUsed?: Open & {
    readonly id?: string
    readonly reasoningEffort?: OpenEnum<'low' | 'medium' | 'high' | 'off'>
  }
  readonly agentVersion?: string
}

/** The tokens of a session, and its credits. */
export interface TokenUsage extends Open {
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly cacheCreationTokens?: number
  readonly cacheReadTokens?: number
  readonly thinkingTokens?: number
  readonly serviceCredits?: number
}

interface ChangeableSettings {
  readonly model?: string
  readonly specModeModel?: string
  readonly providerLockTimestamp?: string
  readonly assistantActiveTimeMs?: number
  readonly childInclusiveTokenUsageBySessionId?: Readonly<Record<string, unknown>>
  readonly archivedAt?: string
  readonly tags?: readonly { readonly name: string; readonly metadata?: object }[]
  readonly enabledToolIds?: readonly string[]
  readonly disabledToolIds?: readonly string[]
}

/** Settings that `sessions.update` takes. Those that are left out are not sent. */
export interface SessionSettingsPatch extends ChangeableSettings {
  /** Refused by the platform. */
  readonly tokenUsage?: never
  /** Refused by the platform. */
  readonly inclusiveTokenUsage?: never
}

/** A tag of a session; the form of `metadata` is not documented. */
export interface SessionTag extends Open {
  readonly name: string
  readonly metadata?: Readonly<Record<string, unknown>>
}

/** The settings of a session. */
export interface SessionSettings extends ChangeableSettings, Open {
  readonly tags?: readonly SessionTag[]
  readonly tokenUsage?: TokenUsage
  /** Child sessions included. */
  readonly inclusiveTokenUsage?: TokenUsage
}

/** A session of the agent. */
export interface Session extends Open {
  readonly sessionId: string
  readonly status: OpenEnum<'idle' | 'pending' | 'running'>
  readonly messageCount: number
  /** Unix time, milliseconds. */
  readonly createdAt: number
  readonly updatedAt: number
  readonly completedAt?: number
  readonly title?: string
  /** The computer that it runs on. */
  readonly computerId?: string
  readonly sessionSettings?: SessionSettings
}

/** A block of type `text` has `text`; other types are not documented. */
export interface ContentBlock extends Open {
  readonly type: OpenEnum<'text'>
  readonly text?: string
  readonly id?: string
}

/** A message of a session. */
export interface Message extends Open {
  readonly id: string
  readonly role: OpenEnum<'user' | 'assistant' | 'tool' | 'system'>
  readonly content: readonly ContentBlock[]
  /** The unit of both times is not documented. */
  readonly createdAt: number
  readonly updatedAt: number
  readonly parentId?: string
  readonly userMessageSource?: OpenEnum<
    | 'web'
    | 'desktop'
    | 'cli_tui'
    | 'cli_exec'
    | 'cli_acp'
    | 'team-chat'
    | 'issue-tracker'
    | 'sessions_api'
    | 'api'
    | 'automation'
    | 'readiness-remediation'
    | 'readiness-evaluation'
    | 'wiki-generation'
    | 'wiki-ci-setup'
  >
  readonly visibility?: OpenEnum<'both' | 'llm_only' | 'user_only'>
  readonly vendorBMessageId?: string
  readonly vendorBEncryptedContent?: string
  readonly vendorBReasoningId?: string
  readonly vendorBReasoningSummary?: string
  readonly vendorBPhase?: OpenEnum<'commentary' | 'final_answer'> | null
  /** @deprecated Blocks of thinking have their own signatures. */
  readonly vendorCThoughtSignature?: string
  readonly chatCompletionReasoningField?: OpenEnum<'reasoning' | 'reasoning_content'>
  readonly chatCompletionReasoningContent?: string
  readonly isUserVisible?: boolean
  readonly isError?: boolean
}

/** A step of the setup of a computer; the values of `status` are not documented. */
export interface ProvisioningStep extends Open {
  readonly id?: string
  readonly name?: string
  readonly status?: string
  readonly error?: string
  readonly startedAt?: number
  readonly completedAt?: number
  /** The session that installs the dependencies. */
  readonly installSessionId?: string
}

/** A persistent environment that sessions run in. */
export interface Computer extends Open {
  readonly id: string
  /** 1 to 63 characters. */
  readonly name: string
  readonly providerType: OpenEnum<'byom' | 'sandbox-provider'>
  /** Its unit is not documented. */
  readonly createdAt: number
  readonly hostId?: string
  readonly hostname?: string
  readonly status?: OpenEnum<'provisioning' | 'active' | 'error'>
  readonly provisioningSteps?: readonly ProvisioningStep[]
  readonly relayClientUrl?: string
  readonly relayAgentUrl?: string
  readonly remoteUser?: string
}

/** The units of memory and disk are not documented. */
export interface ComputerMetrics extends Open {
  readonly timestamp: string
  readonly cpuUsedPct: number
  readonly cpuCount: number
  readonly memUsed: number
  readonly memTotal: number
  readonly diskUsed: number
  readonly diskTotal: number
}
