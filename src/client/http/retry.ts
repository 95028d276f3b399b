import { ApiError, BodyError, TransportError } from '../errors.ts'

/** Attempts beyond the first for a failure that may pass. */
export const RETRIES = 5

/** Refusals for rate are waited out longer than faults: the server is well and says when. */
export const RATE_RETRIES = 20

/**
 * What one request may still be repeated for. Waits and faults are counted apart:
 * however often the server said "later", a fault has all of its retries, and the reverse.
 */
export class RetryBudget {
  #waits = 0
  #faults = 0

  /** Which wait the next refusal for rate would be, from 1. */
  get nextWait(): number {
    return this.#waits + 1
  }

  /** Counts a failure; returns which of its kind it is, or null where that kind has no retry left. */
  spend(error: unknown): number | null {
    const isWait = isRateRefusal(error)
    const count = isWait ? (this.#waits += 1) : (this.#faults += 1)
    return count > (isWait ? RATE_RETRIES : RETRIES) ? null : count
  }
}

const RETRYABLE = new Set([408, 425, 429, 500, 502, 503, 504])

/** True when the same request may do better a moment later. Nothing else is ever repeated. */
export function mayPass(error: unknown): boolean {
  if (error instanceof ApiError) return RETRYABLE.has(error.status)
  return error instanceof TransportError || error instanceof BodyError
}

/** True when no answer came in time: one to a smaller request may. */
export function isTooSlow(error: unknown): boolean {
  if (error instanceof ApiError) return error.status === 504
  return error instanceof TransportError && error.timedOut
}

/** True for the answer that says "too much", as opposed to "broken". */
export function isRateRefusal(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 429
}

const BASE_MS = 500
const CEILING_MS = 30_000

/**
 * Exponential wait with full jitter: uniform in [0, 500 ms * 2^(attempt - 1)],
 * at most 30 s. `attempt` counts from 1, `random` is in [0, 1).
 */
export function backoffMs(attempt: number, random: number): number {
  const ceiling = Math.min(CEILING_MS, BASE_MS * 2 ** (attempt - 1))
  return Math.round(ceiling * random)
}
