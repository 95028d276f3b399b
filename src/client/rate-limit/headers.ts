import { MS_PER_DAY } from '../../lib/days.ts'
import {
  parseList,
  parseNumbers,
  resetMs,
  retryAfterMs,
  serverClock,
  type ListItem,
} from './header-values.ts'
import { backoffMs } from '../http/failures.ts'

/** One quota as rate limit fields state it. Undefined: not stated, or not readable. */
export interface Quota {
  /** Requests that a window allows. */
  readonly limit: number | undefined
  /** Requests that are left. */
  readonly remaining: number | undefined
  /** Milliseconds until the quota is reset. */
  readonly resetMs: number | undefined
}

export type Headers = Readonly<Record<string, string>>

/**
 * Every quota that a response's headers state, in all forms in use. Malformed
 * fields are ignored. `serverNow` is the server's clock, milliseconds since the epoch.
 */
export function quotasOf(headers: Headers, serverNow: number): Quota[] {
  const policies = parseList(headers['ratelimit-policy']).map(policyOf)
  const stated = [...combined(headers['ratelimit'], policies), ...families(headers, policies)]
  return stated.map(({ limit, remaining, reset, windowMs }) => ({
    limit,
    remaining,
    resetMs: reset === undefined ? undefined : resetMs(reset, { serverNow, windowMs }),
  }))
}

/** A quota as one field, or one family of fields, states it; limit and window may be its policy's. */
interface Stated extends Omit<Quota, 'resetMs'> {
  readonly reset: string | undefined
  readonly windowMs: number | undefined
}

type Policy = ReturnType<typeof policyOf>

/** `"burst";q=100;w=60` (draft 08 and later) or `100;w=60` (draft 07 and before). */
function policyOf({ value, parameters }: ListItem) {
  const seconds = count(parameters.get('w') ?? parameters.get('window')) ?? 0
  return {
    name: value,
    limit: count(parameters.get('q') ?? value),
    windowMs: seconds === 0 ? undefined : seconds * 1000,
  }
}

function policyFor(policies: readonly Policy[], limit: number | undefined): Policy | undefined {
  return policies.find((each) => each.limit === limit) ?? policies[0]
}

/** `"default";r=50;t=30` (draft 08 and later) or `limit=100, remaining=50, reset=30` (draft 07). */
function combined(field: string | undefined, policies: readonly Policy[]): Stated[] {
  const numbers = field === undefined ? undefined : parseNumbers(field)
  if (numbers !== undefined) {
    const limit = numbers.get('limit')
    const remaining = numbers.get('remaining')
    const reset = numbers.get('reset')?.toString()
    const policy = policyFor(policies, limit)
    return [{ limit: limit ?? policy?.limit, remaining, reset, windowMs: policy?.windowMs }]
  }
  return parseList(field).flatMap(({ value, parameters }) => {
    const remaining = count(parameters.get('r'))
    const policy = policies.find(({ name }) => name === value)
    const { limit, windowMs } = policy ?? {}
    return remaining === undefined
      ? []
      : [{ limit, remaining, reset: parameters.get('t'), windowMs }]
  })
}

const FIELD = /^(x-rate-?limit|rate-?limit)-(limit|remaining|reset)(?:-([a-z0-9-]+))?$/
const WINDOWS: Readonly<Record<string, number>> = {
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: MS_PER_DAY,
}

/** `RateLimit-*`, `X-RateLimit-*`, `X-Rate-Limit-*`, also by window or unit: `-Remaining-Minute`. */
function families(headers: Headers, policies: readonly Policy[]): Stated[] {
  const found = new Map<string, Map<string, string>>()
  for (const [header, value] of Object.entries(headers)) {
    const [, family = '', kind = '', suffix = ''] = FIELD.exec(header) ?? []
    if (kind === '') continue
    const isDelta = kind === 'reset' && suffix === 'after'
    const name = `${family} ${isDelta ? '' : suffix}`
    const fields = found.get(name) ?? new Map<string, string>()
    found.set(name, fields.set(isDelta ? 'reset-after' : kind, value))
  }
  return [...found].map(([name, fields]) => {
    // `RateLimit-Limit: 100, 100;w=60` states its own policies
    const items = parseList(fields.get('limit'))
    const limit = count(items[0]?.value)
    const ownWindow = items.map((item) => policyOf(item).windowMs).find((ms) => ms !== undefined)
    const windowMs =
      WINDOWS[name.split(' ')[1] ?? ''] ?? policyFor(policies, limit)?.windowMs ?? ownWindow
    const reset = fields.get('reset-after') ?? fields.get('reset')
    return { limit, remaining: count(fields.get('remaining')), reset, windowMs }
  })
}

function count(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}(\.\d+)?$/.test(text.trim())
    ? Math.floor(Number(text))
    : undefined
}

/** How long to wait after a refusal, and which field says so. */
export interface Wait {
  readonly waitMs: number
  /** `backoff`: no plausible field. */
  readonly source: 'retry-after' | 'ratelimit' | 'backoff'
}

/**
 * The wait after a refusal. `Retry-After` takes precedence and is obeyed however long
 * it is. Then come the rate limit fields: the longest reset of the quotas that are used
 * up, because a quota with something left is not what refused. A reset in the past,
 * malformed or more than a day away is ignored. Otherwise the wait is exponential
 * backoff with jitter.
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
