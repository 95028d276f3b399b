import type { ApiClient } from '../../../src/client/index.ts'
import { parseDay } from '../../../src/lib/days.ts'
import * as samples from './samples.ts'

/** One endpoint of the specification, and the method of the client that calls it. */
export interface Endpoint {
  readonly method: 'GET' | 'PUT' | 'PATCH' | 'POST' | 'DELETE'
  readonly path: string
  readonly host: 'api' | 'app'
  /** Documented parameters, each with the value that `call` gives. */
  readonly query: Readonly<Record<string, string>>
  /** The body that `call` sends; undefined for none. */
  readonly body?: unknown
  readonly status: number
  readonly answer: unknown
  readonly call: (client: ApiClient) => Promise<unknown>
  /** The part of the response that the method returns. */
  readonly returned: unknown
}

const RANGE = { startDate: '2026-01-14', endDate: '2026-01-20' }
const ID = 'computer-1'
const { CHANGE, LIMITS, LIMITS_RESULT, REPORT, SESSION, MESSAGE, COMPUTER, SAMPLE } = samples

const base = { method: 'GET', host: 'api', query: {}, status: 200 } as const

function analytics(
  name: string,
  call: Endpoint['call'],
  row: object,
  query: Readonly<Record<string, string>> = {},
): Endpoint {
  const path = `/api/v1/analytics/${name}`
  const meta = { org_id: samples.ORG, start_date: RANGE.startDate, end_date: RANGE.endDate }
  const answer = { data: [row], meta: { ...meta, has_more: false, next_cursor: null } }
  return { ...base, path, query: { ...RANGE, ...query }, answer, call, returned: [row] }
}

const PAGE = { changes: [CHANGE], pagination: { hasMore: true, nextCursor: 'c2' } }
const PATCH = {
  model: 'atlas-2',
  specModeModel: 'cobalt-1',
  providerLockTimestamp: '2026-01-14T01:00:01.000Z',
  assistantActiveTimeMs: 5,
  childInclusiveTokenUsageBySessionId: { child: { inputTokens: 1 } },
  archivedAt: '2026-01-14T04:00:00.000Z',
  tags: [{ name: 'bug', metadata: { area: 'ci' } }],
  enabledToolIds: ['Read'],
  disabledToolIds: ['Bash'],
}

export const ENDPOINTS: readonly Endpoint[] = [
  {
    ...base,
    path: '/api/v0/organization/enterprise-controls/history',
    query: { limit: '100', cursor: 'c1' },
    answer: PAGE,
    call: ({ controls }) => controls.page({ limit: 100, cursor: 'c1' }),
    returned: PAGE,
  },
  {
    ...base,
    method: 'PUT',
    path: '/api/v0/organization/usage/limits/global',
    body: { limit: 1_000_000 },
    answer: { limit: 1_000_000 },
    call: ({ limits }) => limits.setGlobal(1_000_000),
    returned: { limit: 1_000_000 },
  },
  {
    ...base,
    method: 'PUT',
    path: '/api/v0/organization/usage/limits/users',
    body: { users: [{ email: 'ada@acme.example', limit: null }] },
    answer: LIMITS_RESULT,
    call: ({ limits }) => limits.setUsers([{ email: 'ada@acme.example', limit: null }]),
    returned: LIMITS_RESULT,
  },
  {
    ...base,
    path: '/api/v0/organization/usage/limits/users',
    answer: LIMITS,
    call: ({ limits }) => limits.get(),
    returned: LIMITS,
  },
  analytics('tokens', (client) => client.tokens(RANGE), samples.TOKENS),
  analytics('tokens', (client) => client.tokensByModel(RANGE), samples.TOKENS_BY_MODEL, {
    group_by: 'model',
  }),
  analytics('tools', (client) => client.tools(RANGE), samples.TOOLS),
  analytics('tools', (client) => client.toolsByName(RANGE), samples.TOOLS_BY_NAME, {
    group_by: 'tool_name',
  }),
  analytics('activity', (client) => client.activity(RANGE), samples.ACTIVITY),
  analytics('activity', (client) => client.activityByClient(RANGE), samples.ACTIVITY_BY_CLIENT, {
    group_by: 'client',
  }),
  analytics('productivity', (client) => client.productivity(RANGE), samples.PRODUCTIVITY),
  analytics('users', firstUsers, samples.USER, { limit: '100' }),
  analytics('users', laterUsers, samples.USER, { limit: '7', cursor: 'user-0' }),
  {
    ...base,
    host: 'app',
    path: '/api/organization/maturity-level-reports',
    query: { repoId: 'repo-1', limit: '500', startAfter: REPORT.reportId },
    answer: { reports: [REPORT] },
    call: ({ readiness }) =>
      readiness.page({ repoId: 'repo-1', limit: 500, startAfter: REPORT.reportId }),
    returned: [REPORT],
  },
  {
    ...base,
    path: '/api/v0/sessions/{sessionId}',
    query: { computerId: ID },
    answer: SESSION,
    call: ({ sessions }) => sessions.get('a/b c', { computerId: ID }),
    returned: SESSION,
  },
  {
    ...base,
    method: 'PATCH',
    path: '/api/v0/sessions/{sessionId}',
    body: { sessionSettings: PATCH },
    answer: SESSION,
    call: ({ sessions }) => sessions.update('a/b c', PATCH),
    returned: SESSION,
  },
  {
    ...base,
    method: 'POST',
    path: '/api/v0/sessions/{sessionId}/interrupt',
    answer: {},
    call: ({ sessions }) => sessions.interrupt('a/b c'),
    returned: undefined,
  },
  {
    ...base,
    path: '/api/v0/sessions/{sessionId}/messages/{messageId}',
    query: { computerId: ID },
    answer: MESSAGE,
    call: ({ sessions }) => sessions.message('a/b c', 'd?e', { computerId: ID }),
    returned: MESSAGE,
  },
  {
    ...base,
    path: '/api/v0/computers',
    answer: { computers: [COMPUTER] },
    call: ({ computers }) => computers.list(),
    returned: [COMPUTER],
  },
  {
    ...base,
    path: '/api/v0/computers/{computerId}',
    answer: COMPUTER,
    call: ({ computers }) => computers.get('a/b c'),
    returned: COMPUTER,
  },
  {
    ...base,
    path: '/api/v0/computers/name/{name}',
    answer: COMPUTER,
    call: ({ computers }) => computers.getByName('a/b c'),
    returned: COMPUTER,
  },
  {
    ...base,
    method: 'POST',
    path: '/api/v0/computers/{computerId}/install-deps',
    status: 202,
    answer: COMPUTER,
    call: ({ computers }) => computers.installDependencies('a/b c'),
    returned: COMPUTER,
  },
  {
    ...base,
    method: 'POST',
    path: '/api/v0/computers/{computerId}/refresh',
    answer: { configured: 3 },
    call: ({ computers }) => computers.refresh('a/b c'),
    returned: { configured: 3 },
  },
  {
    ...base,
    method: 'POST',
    path: '/api/v0/computers/{computerId}/restart',
    answer: {},
    call: ({ computers }) => computers.restart('a/b c'),
    returned: undefined,
  },
  {
    ...base,
    method: 'DELETE',
    path: '/api/v0/computers/{computerId}',
    status: 204,
    answer: undefined,
    call: ({ computers }) => computers.delete('a/b c'),
    returned: undefined,
  },
  {
    ...base,
    path: '/api/v0/computers/{computerId}/metrics',
    query: { start: '2026-01-14T00:00:00Z' },
    answer: [SAMPLE],
    call: ({ computers }) => computers.metrics('a/b c', { start: '2026-01-14T00:00:00Z' }),
    returned: [SAMPLE],
  },
]

async function firstUsers(client: ApiClient): Promise<unknown> {
  for await (const page of client.users(RANGE)) return page
  return []
}

async function laterUsers(client: ApiClient): Promise<unknown> {
  const range = {
    first: parseDay(RANGE.startDate, 'a day'),
    last: parseDay(RANGE.endDate, 'a day'),
  }
  const { rows } = await client.ask('users', { range, limit: 7, cursor: 'user-0' })
  return rows.map(({ value }) => value)
}

/** The path of a request in which each `{…}` is an id that needs escaping. */
export function escapedPath(path: string): string {
  return path.replace('{messageId}', 'd%3Fe').replace(/\{\w+\}/, 'a%2Fb%20c')
}

export const STATUSES = [400, 401, 403, 409, 500] as const

export function requestTitle({ method, path, query, status }: Endpoint): string {
  const names = Object.keys(query).join(', ')
  const group = query['group_by'] === undefined ? '' : ` by ${query['group_by']}`
  return `${method} ${path}${group} [${names}] is sent as documented, and its ${status} is read`
}

export function problemTitle({ method, path }: Endpoint, status: number): string {
  return `${method} ${path}: a ${status} becomes an error with its Problem body`
}
