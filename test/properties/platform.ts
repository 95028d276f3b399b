import { hash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { BodyTooLargeError, TransportError } from '../../src/client/index.ts'
import {
  addDays,
  daysBetween,
  eachDay,
  HISTORY_START,
  startOf,
  type Day,
} from '../../src/lib/days.ts'
import type { RunEvent } from '../../src/lib/events.ts'
import type { HttpRequest, HttpResponse, World } from '../../src/lib/world.ts'

/** The rows of one resource on one day: their number, and the value of all of them. */
export interface Content {
  readonly rows: number
  readonly value: number
}

/**
 * A day of a resource that the platform restates from the noon after a night on, and takes back
 * from the noon after the next one, and so on.
 */
export interface Restatement {
  readonly resource: string
  /** Days since the beginning of history. */
  readonly day: number
  /** Rising. */
  readonly nights: readonly number[]
  readonly content: Content
}

/** From which page on: the second is in the middle of a pagination; day endpoints have only one. */
type Place = 'first page' | 'second page'

/** The faults of a night. */
export interface Faults {
  /** No response to anything. */
  readonly isDown: boolean
  /** Requests after which the credential is told to wait for hours; null: never. */
  readonly patience: number | null
  /** Days of a resource that fail, alone or in a window. */
  readonly badDays: readonly {
    readonly resource: string
    readonly day: number
    readonly status: 400 | 404 | 500
    readonly from: Place
  }[]
  /** Every request of the resource fails so many times before it is answered. */
  readonly bumps: readonly {
    readonly resource: string
    readonly from: Place
    readonly kind: 'reset' | '500' | '503' | '429' | 'truncated' | 'html'
    readonly times: number
  }[]
  /** The largest window size in days, and how a wider window is refused. */
  readonly widest: {
    readonly days: number
    readonly refusal: '400' | '413' | 'timeout' | 'size'
  } | null
}

export const NO_FAULTS: Faults = {
  isDown: false,
  patience: null,
  badDays: [],
  bumps: [],
  widest: null,
}

/** A platform, given by its restatements and the faults of its nights. */
export interface Model {
  /** Another seed is another history. */
  readonly seed: number
  readonly restatements: readonly Restatement[]
  /** By night; the others have none. */
  readonly nights: ReadonlyMap<number, Faults>
}

/** Its name in the configuration, so that a first response without it makes no other one. */
export const ORGANISATION = 'default'

const HOUR = 3_600_000
const USERS_PER_PAGE = 2

/** Two in the morning, so many days after history began; of 3.125, three hours after that of 3. */
export function nightOf(night: number): number {
  return startOf(HISTORY_START) + night * 24 * HOUR + 2 * HOUR
}

/** The content that the platform serves of a day at an instant. */
export function contentAt(model: Model, resource: string, day: Day, at: number): Content {
  const offset = daysBetween(HISTORY_START, day)
  const restated = model.restatements.findLast(
    (each) =>
      each.resource === resource && each.day === offset && changesOf(each, at).length % 2 === 1,
  )
  return restated?.content ?? firstContent(model.seed, resource, day)
}

function changesOf({ nights }: Restatement, at: number): number[] {
  return nights.filter((night) => nightOf(night) + 10 * HOUR <= at)
}

/** The rows of a day as JSON texts, in the order of their keys. */
export function rowsOf(resource: string, day: Day, { rows, value }: Content): string[] {
  const isGrouped = resource.includes('_by_')
  const key = resource === 'users' ? 'user_id' : isGrouped ? 'group_key' : 'part'
  return Array.from(
    { length: rows },
    (_, index) =>
      `{"${key}":"k${index}", "date":"${day}","daily_active_users":${rows},"billable_tokens":${value}.0}`,
  )
}

/** The content of a day before any restatement. */
export function firstContent(seed: number, resource: string, day: Day): Content {
  const number = Number.parseInt(hash('sha256', `${seed}/${resource}/${day}`).slice(0, 8), 16)
  return { rows: [0, 1, 1, 2, 3, 5][number % 6] ?? 0, value: number % 3 }
}

export interface ModelWorld extends World {
  readonly events: RunEvent[]
}

/**
 * The world of one night: the platform answers from the model, without sockets, and only sleeping
 * moves the clock.
 */
export function worldOf(model: Model, night: number): ModelWorld {
  const faults = model.nights.get(night) ?? NO_FAULTS
  const events: RunEvent[] = []
  const attempts = new Map<string, number>()
  let now = nightOf(night)
  let served = 0
  return {
    fetch: async (request) => {
      await delay(0)
      const attempt = (attempts.get(request.url) ?? 0) + 1
      attempts.set(request.url, attempt)
      served += 1
      const asked = askedBy(request)
      return trouble(faults, asked, attempt, served) ?? answer(model, asked, now, night)
    },
    now: () => now,
    sleep: async (ms) => {
      now += ms
      await delay(0)
    },
    random: () => 0.5,
    emit: (event) => events.push(event),
    signal: new AbortController().signal,
    hangUp: new AbortController().signal,
    events,
  }

  function trouble(
    { isDown, patience, badDays, bumps, widest }: Faults,
    asked: Asked,
    attempt: number,
    count: number,
  ): HttpResponse | undefined {
    if (isDown) throw new TransportError(`${asked.url}: connection refused`, false)
    if (patience !== null && count > patience) return problem(429, now, { 'retry-after': '36000' })
    const width = daysBetween(asked.first, asked.last) + 1
    if (widest !== null && width > widest.days) return tooWide(asked, widest.refusal, now)
    const isMet = (resource: string, from: Place): boolean =>
      resource === asked.resource && (from === 'first page' || asked.cursor !== null)
    const bad = badDays.find(
      ({ resource, day, from }) => isMet(resource, from) && asked.days.includes(dayAt(day)),
    )
    if (bad !== undefined) return problem(bad.status, now)
    const bump = bumps.find(
      ({ resource, times, from }) => isMet(resource, from) && attempt <= times,
    )
    return bump === undefined ? undefined : bumped(asked, bump.kind, now)
  }
}

interface Asked {
  readonly url: string
  readonly resource: string
  readonly first: Day
  readonly last: Day
  readonly days: readonly Day[]
  readonly cursor: string | null
}

const GROUPED: Readonly<Record<string, string>> = {
  model: 'tokens_by_model',
  tool_name: 'tools_by_name',
  client: 'activity_by_client',
}

function askedBy(request: HttpRequest): Asked {
  const url = new URL(request.url)
  const query = url.searchParams
  const endpoint = url.pathname.split('/').at(-1) ?? ''
  const first = (query.get('startDate') ?? '') as Day
  const last = (query.get('endDate') ?? '') as Day
  return {
    url: request.url,
    resource: GROUPED[query.get('group_by') ?? ''] ?? endpoint,
    first,
    last,
    days: eachDay({ first, last }),
    cursor: query.get('cursor'),
  }
}

/** Rows come in another order each night: that is no change. */
function answer(model: Model, asked: Asked, now: number, night: number): HttpResponse {
  if (asked.last >= dayAt(Math.floor(night))) return problem(400, now)
  const rows = asked.days.flatMap((day) => {
    const all = rowsOf(asked.resource, day, contentAt(model, asked.resource, day, now))
    const turn = all.length === 0 ? 0 : Math.floor(night) % all.length
    return [...all.slice(turn), ...all.slice(0, turn)]
  })
  if (asked.resource !== 'users')
    return ok(`{"data":[${rows.join(',')}],"meta":{"org_id":"${ORGANISATION}"}}`, now)
  const from = Number(asked.cursor ?? 0)
  const page = rows.slice(from, from + USERS_PER_PAGE)
  const hasMore = from + USERS_PER_PAGE < rows.length
  const next = hasMore ? `"${from + USERS_PER_PAGE}"` : 'null'
  const meta = `{"org_id":"${ORGANISATION}","has_more":${hasMore},"next_cursor":${next}}`
  return ok(`{"data":[${page.join(',')}],"meta":${meta}}`, now)
}

function bumped(asked: Asked, kind: Faults['bumps'][number]['kind'], now: number): HttpResponse {
  switch (kind) {
    case 'reset':
      throw new TransportError(`${asked.url}: ECONNRESET`, false)
    case 'truncated':
      return ok('{"data":[{"date":"2026-', now)
    case 'html':
      return ok('<html>please log in</html>', now)
    case '429':
      return problem(429, now, { 'retry-after': '2' })
    case '500':
    case '503':
      return problem(Number(kind), now)
  }
}

function tooWide(
  { url }: Asked,
  refusal: NonNullable<Faults['widest']>['refusal'],
  now: number,
): HttpResponse {
  if (refusal === 'timeout') throw new TransportError(`${url}: no complete response`, true)
  if (refusal === 'size') throw new BodyTooLargeError(url, 1)
  return problem(Number(refusal), now)
}

function ok(body: string, now: number): HttpResponse {
  return { status: 200, headers: headersAt(now), body: [Buffer.from(body)] }
}

function problem(status: number, now: number, headers: Record<string, string> = {}): HttpResponse {
  const body = Buffer.from(`{"title":"no","status":${status}}`)
  return { status, headers: { ...headersAt(now), ...headers }, body: [body] }
}

function headersAt(now: number): Record<string, string> {
  return {
    'content-type': 'application/json',
    'x-request-id': 'req-1',
    date: new Date(now).toUTCString(),
  }
}

function dayAt(offset: number): Day {
  return addDays(HISTORY_START, offset)
}
