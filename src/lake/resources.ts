/*
 * The resources: one entry for everything that the program can request from the platform.
 * Their documented fields are in sql/drift/expected.sql.
 */

/** The shape of a served value, as DuckDB's `from_json` expects it, in JSON. */
export type Shape = string | readonly Shape[] | Fieldset
export type Fieldset = Readonly<{ [field: string]: Shape }>

export function isList(shape: Shape): shape is readonly Shape[] {
  return Array.isArray(shape)
}

export function isFieldset(shape: Shape | undefined): shape is Fieldset {
  return typeof shape === 'object' && !Array.isArray(shape)
}

/** How base reads the items of a resource. */
interface Items {
  /** The fields to read; all others are ignored. */
  readonly item: Fieldset
  /**
   * SQL for the key of an item: of a day's items with the same key, the last one wins. NULL:
   * all items stay. Absent: a day has one item, and repeated items count once.
   */
  readonly key?: string
  /** SQL for more columns, from the item and its request. */
  readonly columns?: string
  /** Base entities by name. Each has a statement `sql/base/<name>.sql` and a folder in the lake. */
  readonly entities: Readonly<Record<string, Compared>>
}

/** How a base entity's rows are compared between the versions of an analytics day. */
interface Compared {
  /** The key columns. Absent: one row per day, of the organisation. */
  readonly key?: string
  /** The path of the rows in an item, like `by_user.by_model.`; absent: the items are the rows. */
  readonly path?: string
  /** The metrics: `field=column` or `field=SQL`. Absent: all text fields except the key. */
  readonly metrics?: string
}

interface AnalyticsEntry extends Items {
  /** Its path, below `/api/v1/analytics/`. Absent: its name. */
  readonly endpoint?: string
  readonly groupBy?: 'model' | 'tool_name' | 'client'
  /**
   * `days`, where absent: one response covers a range of days. `users`: pages of rows of users,
   * one day at a time, because a window of several days makes a page ambiguous.
   */
  readonly grain?: 'days' | 'users'
  /** The field that measures the size of a day; without one, rows or users are counted. */
  readonly sizeField?: string
}

export type Resource = AnalyticsEntry &
  Readonly<{ name: string; endpoint: string; grain: 'days' | 'users' }>

/** Fields that are read as text, whatever they are served as. */
function texts(fields: string): Fieldset {
  return Object.fromEntries(fields.split(' ').map((field) => [field, 'VARCHAR']))
}

const SPEND = 'billable_tokens input_tokens output_tokens'
const MODELS = [texts(`model_id model model_tier ${SPEND}`)]
const MODEL_METRICS = `model_tier ${SPEND}`

/** An endpoint requested with `groupBy`: a row is one group of one day. */
function grouped(
  name: string,
  endpoint: string,
  groupBy: NonNullable<AnalyticsEntry['groupBy']>,
  metrics: string,
): Readonly<Record<string, AnalyticsEntry>> {
  const item = texts(`group_key ${metrics}`)
  const entities = { [name]: { key: 'group_key' } }
  return { [name]: { endpoint, groupBy, item, key: 'item.group_key', entities } }
}

/** The resources of analytics, in the order of their requests. */
const ANALYTICS: Readonly<Record<string, AnalyticsEntry>> = {
  activity: {
    sizeField: 'daily_active_users',
    item: {
      ...texts('daily_active_users weekly_active_users monthly_active_users'),
      ...texts('sessions messages user_messages'),
      daily_active_users_by_client: 'MAP(VARCHAR, VARCHAR)',
    },
    entities: {
      activity_days: {},
      activity_clients: {
        key: 'client',
        metrics: 'daily_active_users_by_client=daily_active_users',
      },
    },
  },
  tokens: {
    item: {
      ...texts(`${SPEND} cache_read_tokens cache_write_tokens`),
      by_model: MODELS,
      by_user: [{ ...texts(`user_id user_email ${SPEND}`), by_model: MODELS }],
    },
    entities: {
      tokens_models: { key: 'model_id', path: 'by_model.', metrics: MODEL_METRICS },
      tokens_users: { key: 'user_id', path: 'by_user.' },
      tokens_user_models: {
        key: 'user_id model_id',
        path: 'by_user.by_model.',
        metrics: MODEL_METRICS,
      },
      // its version is also that of the others, because they are written together
      tokens_days: {},
    },
  },
  tools: {
    item: {
      ...texts('tool_calls mcp_users_with_mcp skills_invocations slash_commands_invocations'),
      ...texts('hooks_invocations web_users autonomy_ratio_avg autonomy_ratio_p50'),
      ...texts('autonomy_ratio_p90 tool_calls_per_session_avg user_turns_per_session_avg'),
      by_tool: [texts('tool invocations')],
      mcp_by_server: [texts('server invocations')],
      skills_by_name: [texts('name count')],
      slash_commands_by_name: [texts('name count')],
      hooks_by_event: [texts('event matcher command count')],
      tool_autonomy_level_ratio: 'MAP(VARCHAR, VARCHAR)',
    },
    entities: {
      tools_days: {},
      tools_tools: { key: 'tool', path: 'by_tool.' },
      tools_mcp_servers: { key: 'server', path: 'mcp_by_server.' },
      tools_skills: { key: 'name', path: 'skills_by_name.' },
      tools_slash_commands: { key: 'name', path: 'slash_commands_by_name.' },
      tools_hooks: { key: 'event matcher command', path: 'hooks_by_event.' },
      tools_autonomy_levels: { key: 'level_key', metrics: 'tool_autonomy_level_ratio=share' },
    },
  },
  productivity: {
    item: {
      ...texts('files_created files_edited git_commits git_prs_created'),
      by_language: [texts('language count')],
      by_extension: [texts('extension count')],
    },
    entities: {
      productivity_days: {},
      productivity_languages: { key: 'language', path: 'by_language.' },
      productivity_extensions: { key: 'extension', path: 'by_extension.' },
    },
  },
  ...grouped('activity_by_client', 'activity', 'client', 'daily_active_users'),
  ...grouped('tokens_by_model', 'tokens', 'model', SPEND),
  ...grouped('tools_by_name', 'tools', 'tool_name', 'tool_calls'),
  users: {
    grain: 'users',
    item: {
      ...texts('user_id user_email tool_calls billable_tokens files_created files_edited'),
      ...texts('git_commits git_prs_created mcp_calls skill_calls slash_commands hooks'),
      ...texts('sessions messages user_messages assistant_messages primary_model'),
      ...texts('primary_model_tier autonomy_ratio delegation_level'),
      languages: ['VARCHAR'],
    },
    // rows that name no user cannot be distinguished
    key: 'named(item.user_id)',
    entities: {
      users: { key: 'user_id' },
      // a language is listed or it is not
      user_languages: { key: 'user_id language', metrics: 'languages=true' },
    },
  },
}

const USED_TOKENS = texts(
  'inputTokens outputTokens cacheCreationTokens cacheReadTokens thinkingTokens serviceCredits',
)

/**
 * The entity resources: everything but analytics. Every night
 * fetches their current state; the day is the day of the fetch. The code for each is in
 * `extract/entities/`.
 */
const ENTITY_ENTRIES = {
  hook_events: {
    item: {
      ...texts('event_id recorded_at'),
      input: texts('hook_event_name session_id cwd message reason'),
    },
    key: 'item.event_id',
    entities: { hook_events: {} },
  },
  enterprise_controls: {
    item: { ...texts('revision updatedAt'), user: texts('id email name'), settings: 'JSON' },
    key: 'cast(null as varchar)',
    entities: { controls_revisions: {}, controls_settings: {}, controls_policies: {} },
  },
  usage_limits: {
    item: { ...texts('globalLimit'), userLimits: [texts('email limit')] },
    entities: { usage_limits_days: {}, usage_limits_users: {} },
  },
  readiness_reports: {
    item: {
      ...texts('reportId createdAt repoUrl commitHash branch hasLocalChanges hasNonRemoteCommits'),
      modelUsed: texts('id reasoningEffort'),
      ...texts('agentVersion'),
      apps: 'MAP(VARCHAR, VARCHAR)',
      report: 'MAP(VARCHAR, JSON)',
    },
    key: 'item.reportId',
    entities: { readiness_reports: {}, readiness_criteria: {} },
  },
  computers: {
    item: {
      ...texts('id name providerType createdAt hostId hostname status remoteUser'),
      provisioningSteps: [texts('id name status error startedAt completedAt installSessionId')],
    },
    key: 'item.id',
    entities: { computers: {}, computer_steps: {} },
  },
  computer_metrics: {
    item: texts('timestamp cpuUsedPct cpuCount memUsed memTotal diskUsed diskTotal'),
    columns: `asked_for(request, 'computers') as computer_id,
      to_time(item.timestamp) as sampled_at`,
    key: `case
      when sampled_at is not null then {'computer': computer_id, 'time': sampled_at}
    end`,
    entities: { computer_metrics: {} },
  },
  sessions: {
    item: {
      ...texts('sessionId status messageCount createdAt updatedAt completedAt title computerId'),
      sessionSettings: {
        ...texts('model specModeModel assistantActiveTimeMs'),
        tokenUsage: USED_TOKENS,
        inclusiveTokenUsage: USED_TOKENS,
        childInclusiveTokenUsageBySessionId: 'MAP(VARCHAR, VARCHAR)',
        ...texts('archivedAt'),
        tags: [texts('name')],
      },
    },
    columns: `coalesce(nullif(item.sessionId, ''), asked_for(request, 'sessions')) as session_id`,
    key: 'session_id',
    entities: { sessions: {}, session_children: {}, session_tags: {} },
  },
  messages: {
    item: {
      ...texts('id role userMessageSource visibility parentId createdAt updatedAt'),
      content: [texts('type text')],
      ...texts('isUserVisible isError'),
    },
    columns: `asked_for(request, 'sessions') as session_id,
      coalesce(nullif(item.id, ''), asked_for(request, 'messages')) as message_id`,
    key: `case
      when message_id is not null then {'session': session_id, 'message': message_id}
    end`,
    entities: { messages: {} },
  },
} satisfies Readonly<Record<string, Items>>

export type EntityResource = keyof typeof ENTITY_ENTRIES

export function isEntityResource(resource: string): resource is EntityResource {
  return Object.hasOwn(ENTITY_ENTRIES, resource)
}

export const ENTITY_RESOURCES: readonly EntityResource[] =
  Object.keys(ENTITY_ENTRIES).filter(isEntityResource)

/** True if a day holds a complete snapshot: a missed night cannot be recovered. */
export function isSnapshot(resource: string): boolean {
  return resource === 'usage_limits' || resource === 'computers'
}

export const RESOURCES: readonly Resource[] = Object.entries(ANALYTICS).map(([name, entry]) => ({
  name,
  endpoint: name,
  grain: 'days',
  ...entry,
}))

/**
 * The totals that a day's pages of users are compared with: if none of them changed while the
 * pages were read, the pages come from one snapshot.
 */
export const DAY_TOTALS: readonly Resource[] = RESOURCES.filter(({ name }) =>
  ['activity', 'tokens_by_model', 'productivity'].includes(name),
)

/** Whether the rows of the resource are those of an analytics day, which may be restated. */
export function isAnalytics(resource: string): boolean {
  return Object.hasOwn(ANALYTICS, resource)
}

/** Whether the resource is paginated, and counted by users, because a user may occur twice. */
export function isOfUsers(resource: string): boolean {
  return ANALYTICS[resource]?.grain === 'users'
}

export const ITEMS: Readonly<Record<string, Items>> = { ...ANALYTICS, ...ENTITY_ENTRIES }

/** The resource that each base entity is made from. */
export const ENTITIES: ReadonlyMap<string, string> = new Map(
  Object.entries(ITEMS).flatMap(([resource, { entities }]) =>
    Object.keys(entities).map((name) => [name, resource]),
  ),
)
