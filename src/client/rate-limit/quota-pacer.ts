import type { Quota } from './headers.ts'

/** A count at a time in milliseconds. */
interface Sample {
  readonly at: number
  readonly passed: number
}

/** The quota that one server states in its responses, and how fast it refills. */
export interface QuotaPacer {
  readonly limit: number
  /** Requests that were left at the time `at`. */
  readonly remaining: number
  readonly at: number
  /** When the quota is full again, as stated. */
  readonly resetAt: number
  /** Requests a second by which the quota refills. */
  readonly refill: number
  /** Requests made plus requests left, by recent responses: the sum grows as the quota refills. */
  readonly supply: readonly Sample[]
}

const DEFAULT_RESET_MS = 1000
const RECENT_RESPONSES = 16
/** Some responses, such as errors, state no quota; after this time the last statement no longer counts. */
const SILENCE_MS = 10_000

/**
 * The quota after a response that states `quotas`; of several, the one with the least left
 * counts. `passed`: how many requests have passed.
 */
export function withQuotas(
  before: QuotaPacer | undefined,
  quotas: readonly Quota[],
  passed: number,
  now: number,
): QuotaPacer | undefined {
  const [tightest] = quotas
    .flatMap((quota) =>
      quota.remaining === undefined ? [] : [{ ...quota, remaining: quota.remaining }],
    )
    .sort((a, b) => a.remaining - b.remaining)
  if (tightest === undefined) {
    return before !== undefined && now - before.at < SILENCE_MS ? before : undefined
  }
  const { remaining, resetMs = DEFAULT_RESET_MS } = tightest
  const limit = tightest.limit ?? Math.max(remaining, before?.limit ?? 0)
  const isSame = before !== undefined && (tightest.limit === undefined || before.limit === limit)
  const mark = { at: now, passed: passed + remaining }
  const supply = [...(isSame ? before.supply : []), mark].slice(-RECENT_RESPONSES)
  const refill = refillOf(supply) ?? before?.refill ?? 0
  return { limit, remaining, at: now, resetAt: now + resetMs, refill, supply }
}

/** A larger step that also exceeds all others together is a new window, not a refill. */
const JUMP = 2

function refillOf(supply: readonly Sample[]): number | undefined {
  const [first, last] = [supply[0], supply.at(-1)]
  if (first === undefined || last === undefined || last.at - first.at < 20) return undefined
  const steps = supply.slice(1).map((sample, index) => sample.passed - (supply[index]?.passed ?? 0))
  const growth = last.passed - first.passed
  const largest = Math.max(...steps)
  const steady = largest > JUMP && largest > growth - largest ? growth - largest : growth
  return Math.max(0, ((steady - 0.5) * 1000) / (last.at - first.at))
}

/** The largest reserve that is kept of a quota, in requests. */
const RESERVE = 20

/**
 * Requests a second that use the quota down to a reserve, and then as fast as it
 * refills. Without a refill, the reserve is spread over half the time until the reset,
 * because only requests show whether the quota refills.
 */
export function quotaRate(quota: QuotaPacer, inFlight: number, now: number): number {
  const left = remainingOf(quota, inFlight, now)
  const reserve = Math.max(1, Math.min(quota.limit / 5, quota.refill / 2, RESERVE))
  const untilReset = Math.max(250, quota.resetAt - now) / 1000
  const spread = (2 * Math.max(0.5, left)) / untilReset
  const horizon = Math.max(0.35, 2 / Math.max(quota.refill, 2))
  return Math.max(spread, quota.refill + (left - reserve) / horizon)
}

/** A reset may come a little later than stated. */
const LATE_MS = 5

/** Milliseconds until a request is left, by refill or by reset. */
export function quotaWait(quota: QuotaPacer, inFlight: number, now: number): number {
  const missing = 1 - remainingOf(quota, inFlight, now)
  if (missing <= 0) return 0
  const untilFree = quota.refill === 0 ? Infinity : (missing / quota.refill) * 1000
  return Math.max(0, Math.min(untilFree, quota.resetAt - now + LATE_MS))
}

/** The share of the estimated refill that is counted before a response confirms it. */
const BELIEVED = 0.9

function remainingOf(quota: QuotaPacer, inFlight: number, now: number): number {
  const since = Math.max(0, now - quota.at) / 1000
  const filled = quota.remaining + BELIEVED * quota.refill * since
  return Math.min(quota.limit, filled) - inFlight
}
