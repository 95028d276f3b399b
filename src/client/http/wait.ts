import { quotasOf, type Headers } from '../rate-limit/quota.ts'
import { resetMs } from '../rate-limit/reset.ts'
import { backoffMs } from './retry.ts'
import { retryAfterMs, serverClock } from '../rate-limit/retry-after.ts'

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
