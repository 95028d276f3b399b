/*
 * Entity resources, which are not analytics (PLATFORM_API, "Resources and their fields"). What
 * the specification does not name passes through: fields, values of enums,
 * blocks of content.
 */

/** Fields that the specification does not name pass through. */
interface Open {
  readonly [field: string]: unknown
}

/** A documented value, or one that came later. */
export type OpenEnum<T extends string> = T | (string & Record<never, never>)

/** One revision of the enterprise controls. `settings` is a snapshot, not a difference. */
export interface ControlChange extends Open {
  readonly revision: number
  /** Properties may be added, removed or renamed between API versions. May carry secrets. */
  readonly settings: Readonly<Record<string, unknown>>
  /** Who made the change. */
  readonly user?: { readonly id?: string; readonly email?: string; readonly name?: string }
  /** ISO 8601. */
  readonly updatedAt?: string
}

/** A page of the history, newest revision first. */
export interface ControlsPage extends Open {
  readonly changes: readonly ControlChange[]
  readonly pagination?: { readonly hasMore?: boolean; readonly nextCursor?: string | null }
}

/** A limit of one user in credits; null removes it. */
export interface UserLimit {
  readonly email: string
  readonly limit: number | null
}

export interface UsageLimits extends Open {
  /** Of every user without one of their own, in credits; null is no limit. */
  readonly globalLimit: number | null
  readonly userLimits: readonly UserLimit[]
}

export interface UserLimitsResult extends Open {
  readonly updated: readonly UserLimit[]
  /** Users whose limit was not set, and why. */
  readonly errors: readonly { readonly email: string; readonly error: string }[]
}

export interface CriterionEvaluation extends Open {
  /** Sub-applications that pass, 0 to the denominator; null where it was skipped. */
  readonly numerator: number | null
  /** At least 1. */
  readonly denominator: number
  readonly rationale?: string
}

export interface ReadinessReport extends Open {
  /** UUID. */
  readonly reportId: string
  /** Unix time, milliseconds. */
  readonly createdAt: number
  readonly repoUrl: string
  /** By path of the application. */
  readonly apps?: Readonly<Record<string, { readonly description?: string }>>
  /** By id of the criterion. */
  readonly report?: Readonly<Record<string, CriterionEvaluation>>
  readonly commitHash?: string
  readonly branch?: string
  /** There were uncommitted changes. */
  readonly hasLocalChanges?: boolean
  /** There were commits that were not pushed. */
  readonly hasNonRemoteCommits?: boolean
  readonly modelUsed?: {
    readonly id?: string
    readonly reasoningEffort?: OpenEnum<'low' | 'medium' | 'high' | 'off'>
  }
  readonly agentVersion?: string
}

export interface TokenUsage extends Open {
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly cacheCreationTokens?: number
  readonly cacheReadTokens?: number
  readonly thinkingTokens?: number
  readonly serviceCredits?: number
}

/** Settings that `sessions.update` takes. */
export interface SessionSettingsPatch {
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

export interface SessionSettings extends SessionSettingsPatch, Open {
  readonly tokenUsage?: TokenUsage
  /** Child sessions included. */
  readonly inclusiveTokenUsage?: TokenUsage
}

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

export interface Message extends Open {
  readonly id: string
  readonly role: OpenEnum<'user' | 'assistant' | 'tool' | 'system'>
  readonly content: readonly ContentBlock[]
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
  /** @deprecated Blocks of thinking have a signature of their own. */
  readonly vendorCThoughtSignature?: string
  readonly chatCompletionReasoningField?: OpenEnum<'reasoning' | 'reasoning_content'>
  readonly chatCompletionReasoningContent?: string
  readonly isUserVisible?: boolean
  readonly isError?: boolean
}

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
