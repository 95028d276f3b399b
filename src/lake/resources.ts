/*
 * The resources: all that the program knows of what the platform can be asked for, in one
 * entry each. What is documented of their fields is in sql/drift/expected.sql.
 */

/** The shape of something served, as DuckDB's `from_json` takes it in JSON. */
export type Shape = string | readonly Shape[] | Fieldset
export type Fieldset = Readonly<{ [field: string]: Shape }>

/** How base reads the items of a resource. */
interface Items {
  /** What is read; what an item has beyond it is not. */
  readonly item: Fieldset
  /**
   * SQL of the key of an item: of several items of a day with one key the last is used; NULL: all
   * are used. Absent: a day has one item, and of several the last is used.
   */
  readonly key?: string
  /** SQL of further columns, of the item and of what it was asked by. */
  readonly columns?: string
  /** What base makes of them, by name: each has a statement `sql/base/<name>.sql` and a folder in the lake. */
  readonly entities: Readonly<Record<string, Compared>>
}

/** How the rows that a base entity has of an analytics day are compared with those of its other versions. */
interface Compared {
  /** The columns that tell them apart. Absent: one row a day, the organisation's. */
  readonly key?: string
  /** Where they are in an item, `by_user.by_model.`; absent: they are the items. */
  readonly path?: string
  /** The metrics; `field=column` or `field=SQL`. Absent: all texts there, but the key. */
  readonly metrics?: string
}

interface AnalyticsEntry extends Items {
  /** Its path, below `/api/v1/analytics/`. Absent: its name. */
  readonly endpoint?: string
  readonly groupBy?: 'model' | 'tool_name' | 'client'
  /**
   * `days`, where absent: one answer covers a range of days. `users`: pages of rows of users,
   * one day at a time, because a window of several days makes a page ambiguous.
   */
  readonly grain?: 'days' | 'users'
  /** The field of a row that says how large the day was; without one its rows or users are counted. */
  readonly sizeField?: string
}

/** One thing of analytics that the platform can be asked for. */
export type Resource = AnalyticsEntry &
  Readonly<{ name: string; endpoint: string; grain: 'days' | 'users' }>

/** Fields that are read as text, whatever they are served as. */
function texts(fields: string): Fieldset {
  return Object.fromEntries(fields.split(' ').map((field) => [field, 'VARCHAR']))
}

const SPEND = 'billable_tokens input_tokens output_tokens'
const MODELS = [texts(`model_id model model_tier ${SPEND}`)]
const MODEL_METRICS = `model_tier ${SPEND}`

/** An endpoint asked for by groups: a row is one group of one day. */
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

/** The resources of analytics, in the order in which they are asked for. */
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
      // tells which version the others are of: it is written when they are
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
    // rows that name no user cannot be told apart
    key: "nullif(item.user_id, '')",
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
 * The entity resources: what is not analytics (CONTRACT, "Resource names"). Each is
 * asked for every night as it is then: a day is the one on which it was fetched. How, is
 * code of their own in `extract/entities/`.
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
    entities: { controls_revisions: {}, controls_settings: {} },
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

/** True for what a day holds whole: a night that was missed cannot be made up for. */
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
 * What a day's pages of users are held against: when none of these moved while
 * the pages were read, the pages are of one snapshot.
 */
export const DAY_TOTALS: readonly Resource[] = RESOURCES.filter(({ name }) =>
  ['activity', 'tokens_by_model', 'productivity'].includes(name),
)

/** Whether the rows of the resource are those of an analytics day, which may be restated. */
export function isAnalytics(resource: string): boolean {
  return Object.hasOwn(ANALYTICS, resource)
}

/** Whether the resource comes in pages, and a day is counted by its users: one may come twice. */
export function isOfUsers(resource: string): boolean {
  return ANALYTICS[resource]?.grain === 'users'
}

/** How base reads the items of each resource. */
export const ITEMS: Readonly<Record<string, Items>> = { ...ANALYTICS, ...ENTITY_ENTRIES }

/** The resource that each base entity is made from. */
export const ENTITIES: ReadonlyMap<string, string> = new Map(
  Object.entries(ITEMS).flatMap(([resource, { entities }]) =>
    Object.keys(entities).map((name) => [name, resource]),
  ),
)
