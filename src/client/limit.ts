import type { LearntLimit } from '../core/learnt.ts'
import { burstOf, estimateRate, shapeOf, type Mark, type Shape } from './bucket.ts'

/** What is believed of a server's limit on requests. */
export type Limit =
  /** None was met. */
  | { readonly kind: 'none' }
  /** One was met: the rate starts low and doubles until it is met again. */
  | { readonly kind: 'sought'; readonly from: number; readonly since: number }
  | KnownLimit

/** Requests a second and at once, as measured. */
export interface KnownLimit {
  readonly kind: 'known'
  readonly rate: number
  /** By how much the rate may be wrong. */
  readonly doubt: number
  readonly burst: number
  readonly since: number
  readonly measuredAt: number
}

const DAY_MS = 86_400_000
const FRESH_DOUBT = 0.01
const DOUBT_PER_DAY = 0.002
const FORGOTTEN_AFTER_DAYS = 30

/** What an earlier run measured is doubted more with each day, and in the end forgotten. */
export function rememberedLimit(learnt: LearntLimit | undefined, now: number): Limit {
  const days = learnt === undefined ? Infinity : Math.max(0, now - learnt.measuredAt) / DAY_MS
  if (learnt?.source !== 'refusals' || days > FORGOTTEN_AFTER_DAYS) return { kind: 'none' }
  const { rate, burst, measuredAt } = learnt
  const doubt = rate * (FRESH_DOUBT + DOUBT_PER_DAY * days)
  return { kind: 'known', rate, doubt, burst, since: now, measuredAt }
}

/** What a refusal comes with. */
export interface Lesson {
  readonly refusal: Mark
  /** When the refusal was heard of, and when requests begin again. */
  readonly refusedAt: number
  readonly now: number
  readonly beganAt: number
  /** The bucket, as this refusal shows it. */
  readonly shape: Shape
  /** The refusal before, in this run. */
  readonly before: Mark | undefined
  /** Requests a second that were refused. */
  readonly rate: number
  /** Milliseconds by which arrivals may differ from what their round trips say. */
  readonly jitter: number
}

/** The limit, and the bucket that it was measured with. */
interface Learnt {
  readonly limit: Limit
  readonly shape: Shape
}

const MOST_DOUBT = 0.3
/** Requests by which a count is wrong, as a bucket holds parts of one. */
const NOISE = 0.8
const CUT = 0.9

/**
 * Learns from a refusal. The first one shows the bucket only; the next one the
 * rate as well, which is never above the rate that was refused. Where the bucket
 * is far smaller than was remembered, that was wrong, and the rate is cut.
 */
export function learnLimit(limit: Limit, earlier: Shape | undefined, lesson: Lesson): Learnt {
  const { refusal, refusedAt, now, before, jitter, shape: current } = lesson
  if (limit.kind === 'none' || earlier === undefined) {
    return { limit: { kind: 'sought', from: startOf(lesson), since: now }, shape: current }
  }
  const isMisremembered =
    before === undefined && limit.kind === 'known' && burstOf(current, limit.rate) < limit.burst / 2
  const shape = isMisremembered ? current : earlier
  const noise = NOISE + (2 * jitter * lesson.rate) / 1000
  const estimate = isMisremembered
    ? { rate: limit.rate * CUT, doubt: limit.rate * (1 - CUT) }
    : estimateRate(shape, current, before, refusal, noise)
  const rate = Math.min(estimate.rate, lesson.rate)
  const doubt = Math.min(estimate.doubt, MOST_DOUBT * rate)
  const burst = burstOf(shape, rate)
  return { limit: { kind: 'known', rate, doubt, burst, since: now, measuredAt: refusedAt }, shape }
}

const LEAST_START = 4
const BURSTS_PER_SECOND = 3

/** Some times the burst a second, but well below the rate that was refused. */
function startOf({ refusal, beganAt }: Lesson): number {
  const seconds = Math.max(0.01, (refusal.at - beganAt) / 1000)
  const half = refusal.passed / seconds / 2
  return Math.max(LEAST_START, Math.min(BURSTS_PER_SECOND * refusal.passed, half))
}

const DOUBLING_MS = 1000

/** Requests a second at that time, the bucket holding so many tokens. */
export function limitRate(limit: Limit, level: number, now: number): number {
  if (limit.kind === 'none') return Infinity
  if (limit.kind === 'known') return knownRate(limit, level, now)
  return limit.from * 2 ** (Math.max(0, now - limit.since) / DOUBLING_MS)
}

/** Of a full bucket, the part that is kept as a reserve; the rest is used within half a second. */
const RESERVE = 0.35
const SPEND_PER_SECOND = 2

/**
 * Begins below what was measured, by the doubt, and adds to it: up to what was
 * measured, and beyond it where that was rough, the faster the rougher it was.
 * Because limits change, it also grows by a tenth in a minute or in 600
 * requests, and ever faster after that. What the bucket saved up is used as well.
 */
function knownRate({ rate, doubt, burst, since }: KnownLimit, level: number, now: number): number {
  const seconds = Math.max(0, now - since) / 1000
  const share = doubt / rate
  const growth = doubt * Math.min(1 + 100 * share ** 2, 3.3 * share * seconds)
  const patience = Math.min(300, Math.max(60, 600 / rate))
  const probe = 0.1 * rate * (seconds / patience) ** 3
  const saved = Math.max(0, level - RESERVE * burst) * SPEND_PER_SECOND
  return rate - doubt + growth + probe + saved
}

/** The bucket that a limit from an earlier run implies. */
export function rememberedShape(limit: Limit): Shape | undefined {
  return limit.kind === 'known' ? shapeOf(limit.burst) : undefined
}
