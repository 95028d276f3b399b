/*
 * Rows of the analytics endpoints (PLATFORM_API, "Analytics rows"). Every field
 * may be absent, fields may be added, and numbers beyond 2^53 lose their last
 * digits in JavaScript: the warehouse keeps them exact from the text.
 */

/** Fields that the specification does not name pass through. */
interface Open {
  readonly [field: string]: unknown
}

export interface ModelUsage extends Open {
  readonly model_id?: string
  readonly model_tier?: string
  readonly billable_tokens?: number
  readonly input_tokens?: number
  readonly output_tokens?: number
}

export interface UserUsage extends Open {
  readonly user_id?: string
  readonly user_email?: string | null
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

export interface NamedCount extends Open {
  readonly name?: string
  readonly count?: number
}

/** One day of `/tools`. */
export interface ToolsDay extends Open {
  readonly date: string
  readonly tool_calls?: number
  readonly by_tool?: readonly { readonly tool: string; readonly invocations: number }[]
  /** Users who used MCP servers. */
  readonly mcp_users_with_mcp?: number
  readonly mcp_by_server?: readonly { readonly server: string; readonly invocations: number }[]
  readonly skills_invocations?: number
  readonly skills_by_name?: readonly NamedCount[]
  readonly slash_commands_invocations?: number
  readonly slash_commands_by_name?: readonly NamedCount[]
  readonly hooks_invocations?: number
  readonly hooks_by_event?: readonly {
    readonly event?: string
    readonly matcher?: string
    readonly command?: string
    readonly count?: number
  }[]
  /** Users of the web interface. */
  readonly web_users?: number
  /** Tool calls per user turn. */
  readonly autonomy_ratio_avg?: number
  readonly autonomy_ratio_p50?: number
  readonly autonomy_ratio_p90?: number
  readonly tool_calls_per_session_avg?: number
  readonly user_turns_per_session_avg?: number
  readonly tool_autonomy_level_ratio?: Readonly<Record<string, number>>
}

/** One day of `/activity`. */
export interface ActivityDay extends Open {
  readonly date: string
  readonly daily_active_users?: number
  /** Trailing 7 days. */
  readonly weekly_active_users?: number
  /** Trailing 30 days. */
  readonly monthly_active_users?: number
  /** A user on several clients counts in each. */
  readonly daily_active_users_by_client?: Readonly<Record<string, number>>
  readonly sessions?: number
  readonly messages?: number
  readonly user_messages?: number
}

/** One day of `/productivity`. */
export interface ProductivityDay extends Open {
  readonly date: string
  readonly files_created?: number
  readonly files_edited?: number
  readonly by_extension?: readonly { readonly extension: string; readonly count: number }[]
  readonly by_language?: readonly { readonly language: string; readonly count: number }[]
  readonly git_commits?: number
  readonly git_prs_created?: number
}

/** One user on one day, from `/users`. */
export interface UserDay extends Open {
  readonly user_id: string
  readonly user_email?: string | null
  readonly date: string
  readonly tool_calls?: number
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
  readonly primary_model?: string
  /** `standard` or `thinking`. */
  readonly primary_model_tier?: string
  /** Tool calls per user turn. */
  readonly autonomy_ratio?: number
  /** `auto-high`, `auto-medium`, `auto-low`, `spec`, `manual`. */
  readonly delegation_level?: string
  readonly languages?: readonly string[]
}

/** One row of a grouped answer. */
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
