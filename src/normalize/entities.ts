import { identifier, literal } from '../lib/duckdb.ts'

/** One typed, flat table of the base, and the raw resource it is made from. */
export interface Entity {
  /** Names its statement, `sql/base/<name>.sql`, and its folder in the lake. */
  readonly name: string
  readonly resource: string
  /** The columns that tell its rows apart within a day. None: one row a day, the organisation's. */
  readonly key: readonly string[]
  /** What is compared from version to version: SQL of its columns, by the API's path to the metric. */
  readonly metrics: ReadonlyMap<string, string>
}

/** Key, the API's path, and the metrics below it: columns that base calls as the API does, else `field=column`. */
type Compared = readonly [key: string, path: string, metrics: string]

const SPEND = 'billable_tokens input_tokens output_tokens'

const ANALYTICS: Readonly<Record<string, Readonly<Record<string, Compared>>>> = {
  tokens: {
    tokens_models: ['model_id', 'by_model.', `model_tier ${SPEND}`],
    tokens_users: ['user_id', 'by_user.', `user_email ${SPEND}`],
    tokens_user_models: ['user_id model_id', 'by_user.by_model.', `model_tier ${SPEND}`],
    // tells which version the others are of: it is written when they are
    tokens_days: ['', '', `${SPEND} cache_read_tokens cache_write_tokens`],
  },
  tokens_by_model: { tokens_by_model: ['group_key', '', SPEND] },
  tools: {
    tools_days: [
      '',
      '',
      'tool_calls mcp_users_with_mcp skills_invocations slash_commands_invocations ' +
        'hooks_invocations web_users autonomy_ratio_avg autonomy_ratio_p50 autonomy_ratio_p90 ' +
        'tool_calls_per_session_avg user_turns_per_session_avg',
    ],
    tools_tools: ['tool', 'by_tool.', 'invocations'],
    tools_mcp_servers: ['server', 'mcp_by_server.', 'invocations'],
    tools_skills: ['name', 'skills_by_name.', 'count=count_value'],
    tools_slash_commands: ['name', 'slash_commands_by_name.', 'count=count_value'],
    tools_hooks: ['event matcher command', 'hooks_by_event.', 'count=count_value'],
    tools_autonomy_levels: ['level_key', '', 'tool_autonomy_level_ratio=share'],
  },
  tools_by_name: { tools_by_name: ['group_key', '', 'tool_calls'] },
  activity: {
    activity_days: [
      '',
      '',
      'daily_active_users weekly_active_users monthly_active_users sessions messages user_messages',
    ],
    activity_clients: ['client', '', 'daily_active_users_by_client=daily_active_users'],
  },
  activity_by_client: { activity_by_client: ['group_key', '', 'daily_active_users'] },
  productivity: {
    productivity_days: ['', '', 'files_created files_edited git_commits git_prs_created'],
    productivity_languages: ['language', 'by_language.', 'count=count_value'],
    productivity_extensions: ['extension', 'by_extension.', 'count=count_value'],
  },
  users: {
    users: [
      'user_id',
      '',
      'user_email tool_calls billable_tokens files_created files_edited git_commits ' +
        'git_prs_created mcp_calls skill_calls slash_commands hooks sessions messages ' +
        'user_messages assistant_messages primary_model primary_model_tier autonomy_ratio ' +
        'delegation_level',
    ],
    // a language is listed or it is not
    user_languages: ['user_id language', '', 'languages=true'],
  },
}

const BESIDE_ANALYTICS: Readonly<Record<string, string>> = {
  enterprise_controls: 'controls_revisions controls_settings',
  usage_limits: 'usage_limits_days usage_limits_users',
  readiness_reports: 'readiness_reports readiness_criteria',
  computers: 'computers computer_steps',
  computer_metrics: 'computer_metrics',
  sessions: 'sessions session_children session_tags',
  messages: 'messages',
  hook_events: 'hook_events',
}

export const ENTITIES: readonly Entity[] = [
  ...Object.entries(ANALYTICS).flatMap(([resource, entities]) =>
    Object.entries(entities).map(([name, [key, path, metrics]]) => ({
      name,
      resource,
      key: wordsOf(key),
      metrics: new Map(wordsOf(metrics).map((metric) => metricOf(path, metric))),
    })),
  ),
  ...Object.entries(BESIDE_ANALYTICS).flatMap(([resource, names]) =>
    wordsOf(names).map((name) => ({ name, resource, key: [], metrics: new Map<string, string>() })),
  ),
]

function wordsOf(text: string): readonly string[] {
  return text === '' ? [] : text.split(' ')
}

function metricOf(path: string, metric: string): readonly [string, string] {
  const [field = '', column = field] = metric.split('=')
  return [`${path}${field}`, field === 'billable_tokens' ? `credits_text(${column})` : column]
}

/** Whether the rows of the resource are those of an analytics day, which may be restated. */
export function isAnalytics(resource: string): boolean {
  return resource in ANALYTICS
}

/** Columns of a key of which a name that the API did not send is written otherwise than `(unnamed)`. */
const UNATTRIBUTED = ['user_id', 'model_id']

/**
 * The key as one SQL text: the organisation's id, else its parts with `/` between
 * them. In all parts but the last a `/` is `%2F`, so that no two keys are one.
 */
export function keySql({ key, resource }: Entity, orgId: string): string {
  if (key.length === 0) return literal(orgId)
  const parts = key.map((column, index) => {
    const isUnattributed = UNATTRIBUTED.includes(column) || resource === 'tokens_by_model'
    const otherwise = literal(isUnattributed ? '(unattributed)' : '(unnamed)')
    const name = `coalesce(nullif(${identifier(column)}, ''), ${otherwise})`
    return index === key.length - 1 ? name : `replace(replace(${name}, '%', '%25'), '/', '%2F')`
  })
  return parts.join(" || '/' || ")
}
