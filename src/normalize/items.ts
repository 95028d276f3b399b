import { literal } from '../lib/duckdb.ts'
import { statement, fill } from '../lib/package.ts'
import type { Fieldset } from './documented.ts'
import { isAnalytics } from './entities.ts'

/** The macros of the statements that make base. */
export const MACROS = ['lake/macros', 'base/_numbers', 'base/_macros', 'drift/macros']
  .map(statement)
  .join(';\n')

const PARSED = statement('base/steps/parsed')

/** How base reads the items of a resource. */
interface Items {
  /** What is read; what an item has beyond it is not. */
  readonly item: Fieldset
  /** SQL of what tells the items of a day apart, of which the last one stands; NULL: they all stand. */
  readonly key: string
  /** SQL of further columns, of the item and of what it was asked by. */
  readonly columns?: string
}

/** Fields that are read as text, whatever they are served as. */
function texts(fields: string): Fieldset {
  return Object.fromEntries(fields.split(' ').map((field) => [field, 'VARCHAR']))
}

/** A day that is one item: what came twice counts once. */
const DAY = "''"
const SPEND = 'billable_tokens input_tokens output_tokens'
const MODELS = [texts(`model_id model model_tier ${SPEND}`)]
const USED_TOKENS = texts(
  'inputTokens outputTokens cacheCreationTokens cacheReadTokens thinkingTokens serviceCredits',
)

const ITEMS: Readonly<Record<string, Items>> = {
  tokens: {
    item: {
      ...texts(`${SPEND} cache_read_tokens cache_write_tokens`),
      by_model: MODELS,
      by_user: [{ ...texts(`user_id user_email ${SPEND}`), by_model: MODELS }],
    },
    key: DAY,
  },
  tokens_by_model: { item: texts(`group_key ${SPEND}`), key: 'item.group_key' },
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
    key: DAY,
  },
  tools_by_name: { item: texts('group_key tool_calls'), key: 'item.group_key' },
  activity: {
    item: {
      ...texts('daily_active_users weekly_active_users monthly_active_users'),
      ...texts('sessions messages user_messages'),
      daily_active_users_by_client: 'MAP(VARCHAR, VARCHAR)',
    },
    key: DAY,
  },
  activity_by_client: { item: texts('group_key daily_active_users'), key: 'item.group_key' },
  productivity: {
    item: {
      ...texts('files_created files_edited git_commits git_prs_created'),
      by_language: [texts('language count')],
      by_extension: [texts('extension count')],
    },
    key: DAY,
  },
  users: {
    item: {
      ...texts('user_id user_email tool_calls billable_tokens files_created files_edited'),
      ...texts('git_commits git_prs_created mcp_calls skill_calls slash_commands hooks'),
      ...texts('sessions messages user_messages assistant_messages primary_model'),
      ...texts('primary_model_tier autonomy_ratio delegation_level'),
      languages: ['VARCHAR'],
    },
    // rows that name no user cannot be told apart
    key: "nullif(item.user_id, '')",
  },
  enterprise_controls: {
    item: { ...texts('revision updatedAt'), user: texts('id email name'), settings: 'JSON' },
    key: 'cast(null as varchar)',
  },
  usage_limits: {
    item: { ...texts('globalLimit'), userLimits: [texts('email limit')] },
    key: DAY,
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
  },
  computers: {
    item: {
      ...texts('id name providerType createdAt hostId hostname status remoteUser'),
      provisioningSteps: [texts('id name status error startedAt completedAt installSessionId')],
    },
    key: 'item.id',
  },
  computer_metrics: {
    item: texts('timestamp cpuUsedPct cpuCount memUsed memTotal diskUsed diskTotal'),
    columns: `asked_for(request, 'computers') as computer_id,
      to_time(item.timestamp) as sampled_at`,
    key: `case
      when sampled_at is not null then {'computer': computer_id, 'time': sampled_at}
    end`,
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
  },
  hook_events: {
    item: {
      ...texts('event_id recorded_at'),
      input: texts('hook_event_name session_id cwd message reason'),
    },
    key: 'item.event_id',
  },
}

/** Whether what tells the items of a resource apart is a field of theirs. */
export function isKeyed(resource: string): boolean {
  return ITEMS[resource]?.key !== DAY
}

/** Makes the table `parsed` of the items in `raw`. */
export function parsedSql(
  resource: string,
  into = 'create or replace temp table parsed as',
): string {
  const read = ITEMS[resource]
  if (read === undefined) throw new RangeError(`there are no items of ${resource}`)
  return fill(PARSED, {
    into,
    shape: literal(JSON.stringify(read.item)),
    // what is fetched again of an analytics day is a day of its own
    place: `{${isAnalytics(resource) ? '' : "'fetched_at': fetched_at, "}'page': page, 'ordinal': ordinal}`,
    has_large_numbers: resource === 'tokens' ? 'has_large_numbers(item)' : 'false',
    columns: read.columns === undefined ? '' : `${read.columns},`,
    key: read.key,
  })
}
