import type { PlatformResponses } from './answers.ts'
import type { Json, JsonObject } from './exact-json.ts'
import { amount, byDay, count, double, entries, items, rowsByDay, sorted, text } from './reading.ts'
import { addUp, anyOf, type ExpectedRow, type ExpectedTable, expectedTable, sum } from './table.ts'

const DAY = ['org_id', 'activity_date'] as const

type DayEndpoint = 'tokens' | 'tools' | 'activity' | 'productivity'

/** fct_org_day's counts: where each comes from. The API's name is ours, but for `mcp_users`. */
const ORG_COUNTS: Readonly<Record<DayEndpoint, readonly string[]>> = {
  activity: [
    'daily_active_users',
    'weekly_active_users',
    'monthly_active_users',
    'sessions',
    'messages',
    'user_messages',
  ],
  tools: [
    'tool_calls',
    'mcp_users_with_mcp',
    'web_users',
    'skills_invocations',
    'slash_commands_invocations',
    'hooks_invocations',
  ],
  tokens: [
    'billable_tokens',
    'input_tokens',
    'output_tokens',
    'cache_read_tokens',
    'cache_write_tokens',
  ],
  productivity: ['files_created', 'files_edited', 'git_commits', 'git_prs_created'],
}

const ORG_RATIOS = [
  'autonomy_ratio_avg',
  'autonomy_ratio_p50',
  'autonomy_ratio_p90',
  'tool_calls_per_session_avg',
  'user_turns_per_session_avg',
] as const

/** fct_org_day: a day that any of the four day endpoints knows; what one did not send is NULL. */
export function orgDays(answers: PlatformResponses): ExpectedTable {
  const tokens = byDay(answers.tokens)
  const tools = byDay(answers.tools)
  const activity = byDay(answers.activity)
  const productivity = byDay(answers.productivity)
  const days = sorted([tokens, tools, activity, productivity].flatMap((rows) => [...rows.keys()]))
  const rows = days.map((day) => ({
    org_id: answers.orgId,
    activity_date: day,
    ...countsOf(tokens.get(day), ORG_COUNTS.tokens),
    ...countsOf(tools.get(day), ORG_COUNTS.tools),
    ...countsOf(activity.get(day), ORG_COUNTS.activity),
    ...countsOf(productivity.get(day), ORG_COUNTS.productivity),
    ...Object.fromEntries(ORG_RATIOS.map((name) => [name, double(tools.get(day)?.get(name))])),
  }))
  const counts = Object.values(ORG_COUNTS).flat().map(ourName)
  return expectedTable([...DAY], [...counts, ...ORG_RATIOS], rows)
}

/** fct_client_day. A client sent as null may be left out. */
export function clientDays(answers: PlatformResponses): ExpectedTable {
  const rows = activityDays(answers).flatMap(({ day, clients }) =>
    clients.map(({ client, users }) => ({
      org_id: answers.orgId,
      activity_date: day,
      client,
      daily_active_users: users,
    })),
  )
  return expectedTable(
    [...DAY, 'client'],
    ['daily_active_users'],
    rows.filter((row) => row.daily_active_users !== null),
    rows.filter((row) => row.daily_active_users === null),
  )
}

/**
 * fct_client_overlap_day: with S the sum over clients, D the day's active users
 * and C the clients above zero, between ceil((S - D) / (C - 1)) and
 * min(S - D, D) users were active on several clients. Where S < D, or these
 * bounds contradict each other, the API does and they are unknown. Without a breakdown nothing is known, and the
 * row may be left out.
 */
export function clientOverlapDays(answers: PlatformResponses): ExpectedTable {
  const days = activityDays(answers).map(({ day, header, clients }) => ({
    isKnown: clients.some(({ users }) => users !== null) && header !== undefined,
    row: {
      org_id: answers.orgId,
      activity_date: day,
      ...overlap(
        count(header?.get('daily_active_users')),
        clients.map(({ users }) => users),
      ),
    },
  }))
  return expectedTable(
    [...DAY],
    [
      'daily_active_users',
      'client_memberships',
      'multi_client_users_min',
      'multi_client_users_max',
    ],
    days.filter(({ isKnown }) => isKnown).map(({ row }) => row),
    days.filter(({ isKnown }) => !isKnown).map(({ row }) => row),
  )
}

export function languageDays(answers: PlatformResponses): ExpectedTable {
  return fileOperations(answers, 'language', 'by_language')
}

export function extensionDays(answers: PlatformResponses): ExpectedTable {
  return fileOperations(answers, 'extension', 'by_extension')
}

function countsOf(row: JsonObject | undefined, names: readonly string[]): ExpectedRow {
  return Object.fromEntries(names.map((name) => [ourName(name), amount(row, name)]))
}

function ourName(metric: string): string {
  return metric === 'mcp_users_with_mcp' ? 'mcp_users' : metric
}

interface ActivityDay {
  readonly day: string
  readonly header: JsonObject | undefined
  readonly clients: readonly { readonly client: string; readonly users: bigint | null }[]
}

/** The clients of each day: the nested numbers, or the grouped rows where a day has none. */
function activityDays(answers: PlatformResponses): ActivityDay[] {
  const headers = byDay(answers.activity)
  const grouped = rowsByDay(answers.activityByClient)
  return sorted([...headers.keys(), ...grouped.keys()]).map((day) => {
    const header = headers.get(day)
    const nested = entries(header?.get('daily_active_users_by_client'))
    const clients = nested.length > 0 ? nested : (grouped.get(day) ?? []).flatMap(groupOf)
    return {
      day,
      header,
      clients: clients.map(([client, users]) => ({ client, users: count(users) })),
    }
  })
}

function groupOf(row: JsonObject): (readonly [string, Json])[] {
  const client = text(row.get('group_key'))
  return client === null ? [] : [[client, row.get('daily_active_users') ?? null]]
}

function overlap(users: bigint | null, clients: readonly (bigint | null)[]): ExpectedRow {
  const memberships = sum(clients)
  const extra = users === null || memberships === null ? null : memberships - users
  const used = BigInt(clients.filter((client) => client !== null && client > 0n).length)
  const nothingSent = memberships === null && users === 0n
  const row = {
    daily_active_users: users,
    client_memberships: nothingSent ? anyOf(null, 0n) : memberships,
  }
  if (extra === null || users === null) {
    const unknown = nothingSent ? anyOf(null, 0n) : null
    return { ...row, multi_client_users_max: unknown, multi_client_users_min: anyOf(null, 0n) }
  }
  const max = extra < users ? extra : users
  const min = used <= 1n ? 0n : ceilDivide(extra, used - 1n)
  const isPossible = extra >= 0n && min <= max
  return {
    ...row,
    multi_client_users_max: isPossible ? max : null,
    multi_client_users_min: isPossible ? min : null,
  }
}

function ceilDivide(dividend: bigint, divisor: bigint): bigint {
  const towardsZero = dividend / divisor
  return dividend > 0n && dividend % divisor !== 0n ? towardsZero + 1n : towardsZero
}

function fileOperations(
  answers: PlatformResponses,
  column: 'language' | 'extension',
  breakdown: 'by_language' | 'by_extension',
): ExpectedTable {
  const rows = [...byDay(answers.productivity)].flatMap(([day, row]) => {
    const parts = items(row.get(breakdown)).flatMap((item) => {
      const name = text(item.get(column))
      const counts = { file_operations: count(item.get('count')) }
      return name === null ? [] : [{ members: { [column]: name }, counts }]
    })
    return addUp(parts).map(({ members, counts }) => ({
      org_id: answers.orgId,
      activity_date: day,
      ...members,
      ...counts,
    }))
  })
  return expectedTable([...DAY, column], ['file_operations'], rows)
}
