import { MS_PER_DAY } from '../../lib/days.ts'
import type { LearnedLimit } from '../../lib/learned.ts'
import {
  rangeOf,
  rememberedBucket,
  unknownBucket,
  type Bucket,
  type Range,
} from './token-bucket.ts'

/** What is believed of a limit that was met. */
export interface Limit extends Range {
  /** Requests a second after the last refusal, and when requests began again. */
  readonly from: number
  readonly since: number
  readonly measuredAt: number
}

const FRESH_UNCERTAINTY = 0.02
const UNCERTAINTY_PER_DAY = 0.002
const FORGOTTEN_AFTER_DAYS = 30

/** What an earlier run measured gets more uncertain with each day, and is forgotten in the end. */
export function remembered(
  learned: LearnedLimit | undefined,
  now: number,
): { readonly limit: Limit | undefined; readonly bucket: Bucket } {
  const days = learned === undefined ? Infinity : Math.max(0, now - learned.measuredAt) / MS_PER_DAY
  if (learned?.source !== 'refusals' || days > FORGOTTEN_AFTER_DAYS) {
    return { limit: undefined, bucket: unknownBucket(now) }
  }
  const { rate, burst, measuredAt } = learned
  const bucket = rememberedBucket(rate, burst, FRESH_UNCERTAINTY + UNCERTAINTY_PER_DAY * days, now)
  const range = rangeOf(bucket)
  return { bucket, limit: { ...range, from: range.low, since: now, measuredAt } }
}

const BURSTS_PER_SECOND = 3

/** The limit as a refusal shows it; where that is next to nothing, a guess from the burst. */
export function limitOf(bucket: Bucket, refusedAt: number, now: number): Limit {
  const range = rangeOf(bucket)
  const guess = Math.min(BURSTS_PER_SECOND * range.burst, range.high / 2)
  return { ...range, from: Math.max(range.low, guess), since: now, measuredAt: refusedAt }
}

/** True when the rate is known well enough to be kept. */
export function isMeasured({ low, high }: Range): boolean {
  return high < 1.5 * low
}

const FIRST_SHARE = 0.25
const BOLDNESS = 0.6

/** Of a full bucket, the part that is kept as a reserve; the rest is used within half a second. */
const RESERVE = 0.35
const SPEND_PER_SECOND = 2

/**
 * Requests a second at that time, the bucket holding so many tokens. The first
 * rate doubles every second, but stays low in the range that it may be: at a
 * quarter of it, and higher with time, the sooner the wider the range is. Because
 * limits change, it also grows by a tenth in a minute or in 600 requests, and ever
 * faster after that. What the bucket saved up is used as well.
 */
export function limitRate(limit: Limit, level: number, now: number): number {
  const { low, high, from, burst, since } = limit
  const seconds = Math.max(0, now - since) / 1000
  const share = Math.min(1, FIRST_SHARE + BOLDNESS * (high / low - 1) ** 2 * seconds)
  const rate = Math.min(from * 2 ** seconds, low + share * (high - low))
  const patience = Math.min(300, Math.max(60, 600 / rate))
  const probe = 0.1 * rate * (seconds / patience) ** 3
  const saved = isMeasured(limit) ? Math.max(0, level - RESERVE * burst) * SPEND_PER_SECOND : 0
  return rate + probe + saved
}
