import { mkdtemp, rm } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createHttp, ApiClient } from '../../src/client/index.ts'
import { loadConfig } from '../../src/config/config.ts'
import type { World } from '../../src/lib/world.ts'
import { hookFolders, spoolEvent } from '../../src/hooks/record.ts'
import { inputOf } from '../../src/hooks/event.ts'
import { run } from '../../src/pipeline/run.ts'
import { Database } from '../../src/lib/duckdb.ts'
import { writeAtomic } from '../../src/lib/files.ts'
import { sendJson, testPlatform, type AtEnd } from '../support/helpers.ts'
import { HOOK_INPUTS } from './specification/hooks.ts'
import * as samples from './specification/samples.ts'

/** Responses as specified, read by the client and by a whole night of the warehouse. */
export interface Landed {
  readonly client: ApiClient
  /** The requests of the night, `GET /api/…`. */
  readonly requests: readonly string[]
  /** The published warehouse. */
  readonly warehouse: Database
  /** The items of a resource in the lake. */
  readonly raw: (resource: string) => Promise<unknown[]>
  /** The messages of failed days and warnings. */
  readonly warnings: readonly string[]
}

const { SESSION, MESSAGE, COMPUTER } = samples
const SESSIONS = [
  SESSION,
  { ...SESSION, sessionId: 'session-idle', status: 'idle' },
  { ...SESSION, sessionId: 'session-running', status: 'running' },
]
const COMPUTERS = [
  COMPUTER,
  { ...COMPUTER, id: 'computer-active', name: 'active-box', status: 'active' },
  { ...COMPUTER, id: 'computer-error', name: 'error-box', status: 'error' },
]

export async function landSpecification(atEnd: AtEnd): Promise<Landed> {
  const { url, appUrl, requests } = await testPlatform((request, response) => {
    answer(request.method ?? '', new URL(request.url ?? '', 'http://host'), response)
  }, atEnd)
  const dataFolder = await mkdtemp(join(tmpdir(), 'agent-warehouse-'))
  atEnd(() => rm(dataFolder, { recursive: true, force: true, maxRetries: 20 }))
  const warnings: string[] = []
  const world = worldOf(warnings, atEnd)
  const environment = { AGENT_BASE_URL: url, AGENT_APP_URL: appUrl, AGENT_API_KEY: 'key-1' }
  const config = loadConfig({ data: dataFolder }, environment, dataFolder)
  await seed(dataFolder)
  const deadline = samples.NIGHT + 3_600_000
  const runs = () => Promise.resolve([])
  const { problems } = await run({ config, world, runId: 'run-1', deadline }, {}, runs)
  warnings.push(...problems.map(({ message }) => message))
  const warehouse = await Database.open(join(dataFolder, 'warehouse.duckdb'), { readOnly: true })
  atEnd(() => {
    warehouse.close()
  })
  const raw = async (resource: string): Promise<unknown[]> => {
    const files = `${dataFolder}/lake/raw/${resource}/*/*/*.parquet`
    const { rows } = await warehouse.table(`select item from '${files}'`)
    return rows.flat().map((item) => JSON.parse(typeof item === 'string' ? item : '') as unknown)
  }
  const addresses = { baseUrl: url, appUrl, credential: 'key-1' }
  const client = new ApiClient({ ...addresses, rate: 1000, concurrency: 4, deadline }, world)
  return { client, requests: [...requests], warehouse, raw, warnings }
}

function worldOf(warnings: string[], atEnd: AtEnd): World {
  const http = createHttp()
  atEnd(() => http.close())
  let now = samples.NIGHT
  return {
    fetch: http.fetch,
    now: () => now,
    sleep: async (ms) => {
      now += ms
      await delay(0)
    },
    random: () => 0.5,
    emit: (event) => {
      if (event.type === 'warning') warnings.push(event.message)
      if (event.type === 'interval.failed') warnings.push(`${event.resource}: ${event.error}`)
    },
    signal: new AbortController().signal,
    hangUp: new AbortController().signal,
  }
}

/** Writes the seeds of sessions and messages to fetch, and records the hook events. */
async function seed(dataFolder: string): Promise<void> {
  const seeds = join(dataFolder, 'seeds')
  const ids = SESSIONS.map(({ sessionId }) => sessionId)
  await writeAtomic(join(seeds, 'sessions.csv'), ['session_id', ...ids, ''].join('\n'))
  const message = `session_id,message_id\n${SESSION.sessionId},${MESSAGE.id}\n`
  await writeAtomic(join(seeds, 'messages.csv'), message)
  for (const [index, input] of HOOK_INPUTS.entries()) {
    const { json } = inputOf(Buffer.from(JSON.stringify(input)))
    const eventId = `00000000-0000-4000-8000-00000000000${index}`
    const recordedAt = samples.NIGHT - 3_600_000
    await spoolEvent(hookFolders(dataFolder), { eventId, recordedAt, input: json })
  }
}

function answer(method: string, { pathname, searchParams }: URL, response: ServerResponse): void {
  const body = method === 'PUT' ? samples.LIMITS_RESULT : bodyOf(pathname, searchParams)
  const date = new Date(samples.NIGHT).toUTCString()
  const isToday = searchParams.get('endDate') === '2026-01-15'
  if (isToday) sendJson(response, 400, samples.PROBLEM, { date })
  else if (body === undefined) sendJson(response, 404, { title: 'Not Found' }, { date })
  else sendJson(response, 200, body, { date })
}

function bodyOf(path: string, query: URLSearchParams): unknown {
  const analytics = '/api/v1/analytics/'
  if (path.startsWith(analytics)) return analyticsBody(path.slice(analytics.length), query)
  const [, kind = '', id = '', part] =
    /^\/api\/v0\/(\w+)(?:\/([^/]+))?(?:\/(.+))?$/.exec(path) ?? []
  if (path === '/api/organization/maturity-level-reports') {
    return { reports: query.has('startAfter') ? [] : [samples.REPORT] }
  }
  if (path.endsWith('/enterprise-controls/history')) {
    return { changes: [samples.CHANGE], pagination: { hasMore: false, nextCursor: '' } }
  }
  if (path.endsWith('/usage/limits/users')) return samples.LIMITS
  if (part === `messages/${MESSAGE.id}`) return MESSAGE
  if (part === 'metrics') return [samples.SAMPLE]
  if (kind === 'sessions') {
    return SESSIONS.find(({ sessionId }) => sessionId === id) ?? { ...SESSION, sessionId: id }
  }
  if (kind !== 'computers') return undefined
  return id === '' ? { computers: COMPUTERS } : COMPUTERS.find((each) => each.id === id)
}

const ROWS: Readonly<Record<string, object>> = {
  tokens: samples.TOKENS,
  'tokens by model': samples.TOKENS_BY_MODEL,
  tools: samples.TOOLS,
  'tools by tool_name': samples.TOOLS_BY_NAME,
  activity: samples.ACTIVITY,
  'activity by client': samples.ACTIVITY_BY_CLIENT,
  productivity: samples.PRODUCTIVITY,
  users: samples.USER,
}

function analyticsBody(name: string, query: URLSearchParams): unknown {
  const group = query.get('group_by')
  const [first, last] = [query.get('startDate') ?? '', query.get('endDate') ?? '']
  const isIn = first <= samples.DAY && samples.DAY <= last
  const meta = { org_id: samples.ORG, start_date: first, end_date: last }
  const row = ROWS[group === null ? name : `${name} by ${group}`]
  const more = name === 'users' ? { has_more: false, next_cursor: null } : {}
  return { data: isIn && row !== undefined ? [row] : [], meta: { ...meta, ...more } }
}
