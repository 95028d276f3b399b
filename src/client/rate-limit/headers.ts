import { MS_PER_DAY } from '../../lib/days.ts'
import {
  resetMs,
  parseList,
  parseNumbers,
  type ListItem,
  retryAfterMs,
  serverClock,
} from './header-values.ts'
import { backoffMs } from '../http/failures.ts'

/** What rate limit fields say of one quota. Absent: not said, or not readable. */
export interface Quota {
  /** Requests that a window allows. */
  readonly limit: number | undefined
  readonly windowMs: number | undefined
  /** Requests that are left of it. */
  readonly remaining: number | undefined
  /** Milliseconds until it is there again. */
  readonly resetMs: number | undefined
}

export type Headers = Readonly<Record<string, string>>

/**
 * Every quota that an answer's headers speak of, in all forms in use. Malformed
 * fields are ignored. `serverNow` is the server's clock, milliseconds since the epoch.
 */
export function quotasOf(headers: Headers, serverNow: number): Quota[] {
  const policies = policiesOf(headers['ratelimit-policy'])
  return [
    ...combined(headers['ratelimit'], policies, serverNow),
    ...families(headers, policies, serverNow),
  ]
}

interface Policy {
  readonly name: string
  readonly limit: number | undefined
  readonly windowMs: number | undefined
}

/** `"burst";q=100;w=60` (draft 08 and later) or `100;w=60` (draft 07 and before). */
function policiesOf(field: string | undefined): Policy[] {
  const items = field === undefined ? [] : (parseList(field) ?? [])
  return items.map((item) => ({
    name: item.value,
    limit: count(item.parameters.get('q') ?? item.value),
    windowMs: seconds(item.parameters.get('w') ?? item.parameters.get('window')),
  }))
}

/** `"default";r=50;t=30` (draft 08 and later) or `limit=100, remaining=50, reset=30` (draft 07). */
function combined(
  field: string | undefined,
  policies: readonly Policy[],
  serverNow: number,
): Quota[] {
  if (field === undefined) return []
  const numbers = parseNumbers(field)
  if (numbers !== undefined) {
    const limit = numbers.get('limit')
    const policy = policies.find((each) => each.limit === limit) ?? policies[0]
    const reset = numbers.get('reset')
    return [quota(policy, limit, numbers.get('remaining'), reset?.toString(), serverNow)]
  }
  return (parseList(field) ?? []).flatMap((item) => named(item, policies, serverNow))
}

function named(item: ListItem, policies: readonly Policy[], serverNow: number): Quota[] {
  const remaining = count(item.parameters.get('r'))
  if (remaining === undefined) return []
  const policy = policies.find(({ name }) => name === item.value)
  return [quota(policy, undefined, remaining, item.parameters.get('t'), serverNow)]
}

const FIELD = /^(x-rate-?limit|rate-?limit)-(limit|remaining|reset)(?:-([a-z0-9-]+))?$/
const WINDOWS: Readonly<Record<string, number>> = {
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: MS_PER_DAY,
}

/** `RateLimit-*`, `X-RateLimit-*`, `X-Rate-Limit-*`, also by window or unit: `-Remaining-Minute`. */
function families(headers: Headers, policies: readonly Policy[], serverNow: number): Quota[] {
  const found = new Map<string, Map<string, string>>()
  for (const [name, value] of Object.entries(headers)) {
    const match = FIELD.exec(name)
    if (match === null) continue
    const [, family = '', kind = '', suffix = ''] = match
    const isDelta = kind === 'reset' && suffix === 'after'
    const key = `${family} ${isDelta ? '' : suffix}`
    const fields = found.get(key) ?? new Map<string, string>()
    found.set(key, fields.set(isDelta ? 'reset-after' : kind, value))
  }
  return [...found].map(([key, fields]) => {
    const [limitItem] = parseList(fields.get('limit') ?? '') ?? []
    const limit = count(limitItem?.value)
    const policy = policies.find((each) => each.limit === limit) ?? policies[0]
    const windowMs = WINDOWS[key.split(' ')[1] ?? ''] ?? policy?.windowMs ?? limitWindow(fields)
    const reset = fields.get('reset-after') ?? fields.get('reset')
    const known = { name: key, limit, windowMs }
    return quota(known, limit, count(fields.get('remaining')), reset, serverNow)
  })
}

/** `RateLimit-Limit: 100, 100;w=60`. */
function limitWindow(fields: ReadonlyMap<string, string>): number | undefined {
  const items = parseList(fields.get('limit') ?? '') ?? []
  return items
    .map(({ parameters }) => seconds(parameters.get('w') ?? parameters.get('window')))
    .find((each) => each !== undefined)
}

function quota(
  policy: Policy | undefined,
  limit: number | undefined,
  remaining: number | undefined,
  reset: string | undefined,
  serverNow: number,
): Quota {
  const windowMs = policy?.windowMs
  return {
    limit: limit ?? policy?.limit,
    windowMs,
    remaining,
    resetMs: reset === undefined ? undefined : resetMs(reset, { serverNow, windowMs }),
  }
}

function count(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}(\.\d+)?$/.test(text.trim())
    ? Math.floor(Number(text))
    : undefined
}

function seconds(text: string | undefined): number | undefined {
  const number = count(text)
  return number === undefined || number === 0 ? undefined : number * 1000
}

/** How long to wait after a refusal, and what says so. */
export interface Wait {
  readonly waitMs: number
  /** `backoff`: no field that can be believed says anything. */
  readonly source: 'retry-after' | 'ratelimit' | 'backoff'
}

/**
 * The wait after a refusal. `Retry-After` goes before all else and is obeyed
 * however long it is. Then the rate limit fields: the longest reset of the
 * quotas that are used up. A quota with something left is not what refused,
 * and a reset that is over, malformed or more than a day away is ignored:
 * then it is exponential backoff with jitter.
 */
export function waitOf(headers: Headers, attempt: number, now: number, random: number): Wait {
  const stated = retryAfterMs(headers, now)
  if (stated !== undefined) return { waitMs: stated, source: 'retry-after' }
  const hinted = retryHintMs(headers, now) ?? exhaustedMs(headers, now)
  if (hinted !== undefined) return { waitMs: hinted, source: 'ratelimit' }
  return { waitMs: backoffMs(attempt, random), source: 'backoff' }
}

const RETRY_FIELDS = ['x-ratelimit-retry-after', 'x-rate-limit-retry-after']

/** `X-RateLimit-Retry-After` (seconds or a point in time), `Retry-After-Ms`. */
function retryHintMs(headers: Headers, now: number): number | undefined {
  const milliseconds = headers['retry-after-ms']?.trim() ?? ''
  if (/^\d{1,8}(\.\d+)?$/.test(milliseconds)) return positive(Math.ceil(Number(milliseconds)))
  const serverNow = serverClock(headers, now)
  for (const name of RETRY_FIELDS) {
    const field = headers[name]
    const wait = field === undefined ? undefined : positive(resetMs(field, { serverNow }))
    if (wait !== undefined) return wait
  }
  return undefined
}

function exhaustedMs(headers: Headers, now: number): number | undefined {
  const resets = quotasOf(headers, serverClock(headers, now)).flatMap(
    ({ remaining, resetMs: reset }) =>
      (remaining ?? 0) === 0 && reset !== undefined ? [reset] : [],
  )
  return positive(Math.max(0, ...resets))
}

function positive(wait: number | undefined): number | undefined {
  return wait !== undefined && wait > 0 ? wait : undefined
}
