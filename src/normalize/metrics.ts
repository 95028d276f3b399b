import { identifier, literal } from '../lib/duckdb.ts'

/** A part of an entity's key: the column, and what stands for a name that the API did not send. */
interface KeyPart {
  readonly column: string
  readonly otherwise: '(unattributed)' | '(unnamed)'
}

/** How the rows of a base entity are told apart within a day, and what they say. */
export interface EntityMetrics {
  readonly entity: string
  /** Empty: one row a day, the organisation's. */
  readonly key: readonly KeyPart[]
  /** Column or expression of the base entity, by the metric's name: the API's path to it. */
  readonly metrics: ReadonlyMap<string, string>
}

const user = { column: 'user_id', otherwise: '(unattributed)' } as const
const model = { column: 'model_id', otherwise: '(unattributed)' } as const

function named(column: string): KeyPart {
  return { column, otherwise: '(unnamed)' }
}

/** Columns that the base calls as the API does, below a path like `by_user.`. */
function fields(path: string, columns: readonly string[]): ReadonlyMap<string, string> {
  return new Map(columns.map((column) => [`${path}${column}`, valueSql(column)]))
}

function valueSql(column: string): string {
  return column === 'billable_tokens' ? `credits_text(${column})` : column
}

const spend = ['billable_tokens', 'input_tokens', 'output_tokens']
const modelSpend = ['model_tier', ...spend]

/** What of each resource is compared from version to version. */
export const METRICS: Readonly<Record<string, readonly EntityMetrics[]>> = {
  tokens: [
    {
      entity: 'tokens_days',
      key: [],
      metrics: fields('', [...spend, 'cache_read_tokens', 'cache_write_tokens']),
    },
    { entity: 'tokens_models', key: [model], metrics: fields('by_model.', modelSpend) },
    { entity: 'tokens_users', key: [user], metrics: fields('by_user.', ['user_email', ...spend]) },
    {
      entity: 'tokens_user_models',
      key: [user, model],
      metrics: fields('by_user.by_model.', modelSpend),
    },
  ],
  tokens_by_model: [
    {
      entity: 'tokens_by_model',
      key: [{ column: 'group_key', otherwise: '(unattributed)' }],
      metrics: fields('', spend),
    },
  ],
  tools: [
    {
      entity: 'tools_days',
      key: [],
      metrics: fields('', [
        'tool_calls',
        'mcp_users_with_mcp',
        'skills_invocations',
        'slash_commands_invocations',
        'hooks_invocations',
        'web_users',
        'autonomy_ratio_avg',
        'autonomy_ratio_p50',
        'autonomy_ratio_p90',
        'tool_calls_per_session_avg',
        'user_turns_per_session_avg',
      ]),
    },
    {
      entity: 'tools_tools',
      key: [named('tool')],
      metrics: new Map([['by_tool.invocations', 'invocations']]),
    },
    {
      entity: 'tools_mcp_servers',
      key: [named('server')],
      metrics: new Map([['mcp_by_server.invocations', 'invocations']]),
    },
    {
      entity: 'tools_skills',
      key: [named('name')],
      metrics: new Map([['skills_by_name.count', 'count_value']]),
    },
    {
      entity: 'tools_slash_commands',
      key: [named('name')],
      metrics: new Map([['slash_commands_by_name.count', 'count_value']]),
    },
    {
      entity: 'tools_hooks',
      key: [named('event'), named('matcher'), named('command')],
      metrics: new Map([['hooks_by_event.count', 'count_value']]),
    },
    {
      entity: 'tools_autonomy_levels',
      key: [named('level_key')],
      metrics: new Map([['tool_autonomy_level_ratio', 'share']]),
    },
  ],
  tools_by_name: [
    { entity: 'tools_by_name', key: [named('group_key')], metrics: fields('', ['tool_calls']) },
  ],
  activity: [
    {
      entity: 'activity_days',
      key: [],
      metrics: fields('', [
        'daily_active_users',
        'weekly_active_users',
        'monthly_active_users',
        'sessions',
        'messages',
        'user_messages',
      ]),
    },
    {
      entity: 'activity_clients',
      key: [named('client')],
      metrics: new Map([['daily_active_users_by_client', 'daily_active_users']]),
    },
  ],
  activity_by_client: [
    {
      entity: 'activity_by_client',
      key: [named('group_key')],
      metrics: fields('', ['daily_active_users']),
    },
  ],
  productivity: [
    {
      entity: 'productivity_days',
      key: [],
      metrics: fields('', ['files_created', 'files_edited', 'git_commits', 'git_prs_created']),
    },
    {
      entity: 'productivity_languages',
      key: [named('language')],
      metrics: new Map([['by_language.count', 'count_value']]),
    },
    {
      entity: 'productivity_extensions',
      key: [named('extension')],
      metrics: new Map([['by_extension.count', 'count_value']]),
    },
  ],
  users: [
    {
      entity: 'users',
      key: [user],
      metrics: fields('', [
        'user_email',
        'tool_calls',
        'billable_tokens',
        'files_created',
        'files_edited',
        'git_commits',
        'git_prs_created',
        'mcp_calls',
        'skill_calls',
        'slash_commands',
        'hooks',
        'sessions',
        'messages',
        'user_messages',
        'assistant_messages',
        'primary_model',
        'primary_model_tier',
        'autonomy_ratio',
        'delegation_level',
      ]),
    },
    // A language is listed or it is not.
    {
      entity: 'user_languages',
      key: [user, named('language')],
      metrics: new Map([['languages', 'true']]),
    },
  ],
}

/**
 * The key as one SQL text: the organisation's id, else its parts with `/` between
 * them. In all parts but the last a `/` is `%2F`, so that no two keys are one.
 */
export function keySql({ key }: EntityMetrics, orgId: string): string {
  if (key.length === 0) return literal(orgId)
  const parts = key.map(({ column, otherwise }, index) => {
    const name = `coalesce(nullif(${identifier(column)}, ''), ${literal(otherwise)})`
    return index === key.length - 1 ? name : `replace(replace(${name}, '%', '%25'), '/', '%2F')`
  })
  return parts.join(" || '/' || ")
}
