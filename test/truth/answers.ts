import { type Json, type JsonObject, parseExact } from './exact-json.ts'
import { text } from './reading.ts'

export interface TruthOptions {
  readonly baseUrl: string
  readonly key: string
  /** First and last day asked for, `YYYY-MM-DD`, both included. */
  readonly first: string
  readonly last: string
}

/** Everything the platform says about a window of days; rows in the order they were served. */
export interface PlatformResponses {
  readonly orgId: string
  readonly first: string
  readonly last: string
  readonly tokens: readonly JsonObject[]
  readonly tools: readonly JsonObject[]
  readonly activity: readonly JsonObject[]
  readonly productivity: readonly JsonObject[]
  readonly tokensByModel: readonly JsonObject[]
  readonly toolsByName: readonly JsonObject[]
  readonly activityByClient: readonly JsonObject[]
  /** Page after page, day after day: of two rows for one user and day the later one holds. */
  readonly users: readonly JsonObject[]
}

interface Envelope {
  readonly rows: readonly JsonObject[]
  readonly meta: JsonObject
}

type Query = Readonly<Record<string, string>>

const MS_PER_DAY = 86_400_000
const ATTEMPTS = 8
const FIRST_WAIT_MS = 50
const USERS_AT_ONCE = 4

/**
 * Asks for everything the five analytics endpoints know about the window.
 * A throttled or failing response (429, 5xx) is asked for again; a window that is
 * refused as too wide (400, 413) is asked for in halves.
 * @throws Error with path, status and body for any other refusal, and for pages
 * that do not move on.
 */
export async function fetchEverything(options: TruthOptions): Promise<PlatformResponses> {
  const { first, last } = options
  const wide = (path: string, query: Query = {}): Promise<readonly Envelope[]> =>
    askRange(options, path, query, first, last)
  const tokens = await wide('tokens')
  const answers = {
    tokens: rowsOf(tokens),
    tools: rowsOf(await wide('tools')),
    activity: rowsOf(await wide('activity')),
    productivity: rowsOf(await wide('productivity')),
    tokensByModel: rowsOf(await wide('tokens', { group_by: 'model' })),
    toolsByName: rowsOf(await wide('tools', { group_by: 'tool_name' })),
    activityByClient: rowsOf(await wide('activity', { group_by: 'client' })),
    users: await askUsers(options),
  }
  return { orgId: orgOf(tokens), first, last, ...answers }
}

/** The days from `first` to `last`, both included. */
function daysFrom(first: string, last: string): string[] {
  const start = Date.parse(`${first}T00:00:00Z`)
  const count = Math.round((Date.parse(`${last}T00:00:00Z`) - start) / MS_PER_DAY) + 1
  return Array.from({ length: Math.max(0, count) }, (_, index) =>
    new Date(start + index * MS_PER_DAY).toISOString().slice(0, 10),
  )
}

async function askUsers(options: TruthOptions): Promise<JsonObject[]> {
  const days = daysFrom(options.first, options.last)
  const byDay = new Map<string, JsonObject[]>()
  const worker = async (): Promise<void> => {
    for (let day = days.shift(); day !== undefined; day = days.shift()) {
      byDay.set(day, await askUsersOfDay(options, day))
    }
  }
  const inOrder = [...days]
  await Promise.all(Array.from({ length: USERS_AT_ONCE }, worker))
  return inOrder.flatMap((day) => byDay.get(day) ?? [])
}

async function askUsersOfDay(options: TruthOptions, day: string): Promise<JsonObject[]> {
  const rows: JsonObject[] = []
  const met = new Set<string>()
  let query: Query = { startDate: day, endDate: day, limit: '100' }
  for (;;) {
    const page = await ask(options, 'users', query)
    rows.push(...page.rows)
    if (page.meta.get('has_more') !== true) return rows
    const cursor = text(page.meta.get('next_cursor'))
    if (cursor === null || met.has(cursor)) {
      throw new Error(
        `/users of ${day} has more, but its cursor '${cursor ?? 'null'}' leads nowhere`,
      )
    }
    met.add(cursor)
    query = { ...query, cursor }
  }
}

async function askRange(
  options: TruthOptions,
  path: string,
  query: Query,
  first: string,
  last: string,
): Promise<readonly Envelope[]> {
  try {
    return [await ask(options, path, { startDate: first, endDate: last, ...query })]
  } catch (error) {
    const days = daysFrom(first, last)
    const tooWide = error instanceof Refusal && (error.status === 400 || error.status === 413)
    if (!tooWide || days.length < 2) throw error
    const middle = Math.floor(days.length / 2)
    return [
      ...(await askRange(options, path, query, first, days[middle - 1] ?? first)),
      ...(await askRange(options, path, query, days[middle] ?? last, last)),
    ]
  }
}

class Refusal extends Error {
  readonly status: number

  constructor(url: URL, status: number, body: string) {
    super(`${url.pathname}${url.search} answered ${status}: ${body.slice(0, 300)}`)
    this.status = status
  }
}

async function ask(options: TruthOptions, path: string, query: Query): Promise<Envelope> {
  const url = new URL(`${options.baseUrl.replace(/\/+$/, '')}/api/v1/analytics/${path}`)
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetch(url, { headers: { authorization: `Bearer ${options.key}` } })
    const body = await response.text()
    if (response.ok) return envelope(url, parseExact(body))
    const passing = response.status === 429 || response.status >= 500
    if (!passing || attempt === ATTEMPTS) throw new Refusal(url, response.status, body)
    await pause(waitMs(response.headers.get('retry-after'), attempt))
  }
}

function waitMs(retryAfter: string | null, attempt: number): number {
  if (retryAfter !== null && /^\d+$/.test(retryAfter)) return Number(retryAfter) * 1000
  return FIRST_WAIT_MS * 2 ** (attempt - 1)
}

async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms))
}

function envelope(url: URL, body: Json): Envelope {
  const data = isObject(body) ? body.get('data') : undefined
  const meta = isObject(body) ? body.get('meta') : undefined
  if (!Array.isArray(data) || !data.every(isObject) || !isObject(meta)) {
    throw new Error(`${url.pathname}${url.search} did not answer with {data: [...], meta: {...}}`)
  }
  return { rows: data, meta }
}

function isObject(json: Json | undefined): json is JsonObject {
  return json instanceof Map
}

function rowsOf(envelopes: readonly Envelope[]): JsonObject[] {
  return envelopes.flatMap(({ rows }) => rows)
}

function orgOf(envelopes: readonly Envelope[]): string {
  const orgId = text(envelopes[0]?.meta.get('org_id'))
  if (orgId === null) throw new Error('/tokens names no org_id in its meta')
  return orgId
}
