import type { LearnedLimit } from '../../lib/learned.ts'
import {
  faded,
  rangeOf,
  withRequest,
  type Bucket,
  isMeasured,
  limitOf,
  limitRate,
  remembered,
  type Limit,
} from './limit-estimator.ts'
import { quotaRate, quotaWait, withQuotas, type QuotaPacer } from './quota-pacer.ts'
import type { Quota } from './headers.ts'

/**
 * When the next request may be sent, as learned from the outcome of earlier ones.
 *
 * Model: a bucket of B tokens, refilled R times a second; both are unknown. For
 * each R of a fine scale, bucket.ts computes what B must be by every request that
 * passed or was refused, and by how many tokens that contradicts itself. The R
 * with the least contradiction, and those within noise of it, are the range
 * [low, high] that limit.ts turns into a rate.
 *
 * States and what leads from one to the next:
 *   no limit met      as fast as concurrency allows. A refusal → held.
 *   held              nothing is sent for as long as the platform said. Then one request
 *                     goes ahead; when it has passed → seeking or keeping.
 *   seeking           one refusal gives B + R·t only, so the range is wide: the rate
 *                     doubles every second. A refusal → held.
 *   keeping           two refusals give R and B, so the range is narrow: the rate is
 *                     just above its low end. A refusal → held.
 *
 * Why it converges: a rate above R empties the bucket by (rate − R) tokens a
 * second, and is refused; that contradicts every R as high. A rate below R is not
 * refused; that contradicts every R which it would have emptied. So the range
 * closes on R from both ends, the faster the further away an end is. Refusals
 * are rare because the rate follows the low end, which rises by requests that
 * passed. At each refusal older evidence counts for half, and never for more than
 * a few tokens: a limit that has changed is believed after one or two refusals.
 *
 * A state, and a function for each thing that happens. Times are milliseconds
 * since the epoch, rates are requests a second.
 */
export interface Pacer {
  /** The rate, at most. */
  readonly most: number
  /** Requests that were answered and not refused. */
  readonly passed: number
  /** Requests under way. */
  readonly flying: number
  /** The turn of the last request. */
  readonly turnAt: number
  /** Told: nothing may be sent before. */
  readonly resumeAt: number
  /** Undefined while none was met. */
  readonly limit: Limit | undefined
  /** The server's bucket by what was sent, but for the last requests: those are not counted yet. */
  readonly bucket: Bucket
  readonly sent: readonly Sent[]
  /** Tokens that the bucket is believed to hold at that time. */
  readonly level: number
  readonly levelAt: number
  /** When the last refusal was heard of, and whether a request has passed that was sent since. */
  readonly refusedAt: number
  readonly isRecovered: boolean
  /** Whether a refusal was not learned from yet. */
  readonly isLessonDue: boolean
  /** What the answers' headers say. */
  readonly quota: QuotaPacer | undefined
}

/** A request, and whether it was refused: undefined while it is under way. */
interface Sent {
  readonly at: number
  readonly isRefused: boolean | undefined
}

/** A turn that was missed by less is made up for. */
const CATCH_UP_MS = 15

/** Begins with what an earlier run learned. */
export function newPacer(most: number, learned: LearnedLimit | undefined, now: number): Pacer {
  const { limit, bucket } = remembered(learned, now)
  return {
    most,
    passed: 0,
    flying: 0,
    turnAt: now - CATCH_UP_MS,
    resumeAt: now,
    limit,
    bucket,
    sent: [],
    level: limit?.burst ?? 0,
    levelAt: now,
    refusedAt: -Infinity,
    isRecovered: true,
    isLessonDue: false,
    quota: undefined,
  }
}

/** Milliseconds until the next request may be sent; 0 when it may be now. */
export function pacerWait(pacer: Pacer, now: number): number {
  if (now < pacer.resumeAt) return pacer.resumeAt - now
  const { quota, flying, turnAt } = pacer
  const stated = quota === undefined ? 0 : quotaWait(quota, flying, now)
  const gap = 1000 / rateAt(pacer, now)
  return Math.max(stated, Math.min(gap, Math.max(0, turnAt + gap - now)))
}

/**
 * A request that is sent. The first one after a refusal is the time to learn
 * from it: what was in flight with it has been answered.
 */
export function requestSent(before: Pacer, now: number): Pacer {
  const pacer = before.isLessonDue ? withLesson(before, now) : withoutOldest(before, MOST_UNSETTLED)
  const turn = Math.max(pacer.turnAt + 1000 / rateAt(pacer, now), now - CATCH_UP_MS)
  return {
    ...pacer,
    turnAt: Math.min(turn, now),
    flying: pacer.flying + 1,
    sent: [...pacer.sent, { at: now, isRefused: undefined }],
    level: levelAt(pacer, now) - 1,
    levelAt: now,
  }
}

/**
 * A request that was not refused: answered, or lost after it may have been
 * counted. What a server says of its quota goes before what is remembered.
 */
export function requestPassed(
  pacer: Pacer,
  sentAt: number,
  quotas: readonly Quota[],
  now: number,
): Pacer {
  const passed = pacer.passed + 1
  const quota = withQuotas(pacer.quota, quotas, passed, now)
  const isRemembered = pacer.refusedAt === -Infinity
  return {
    ...pacer,
    passed,
    limit: quota !== undefined && isRemembered ? undefined : pacer.limit,
    ...answered(pacer, sentAt, false),
    isRecovered: pacer.isRecovered || sentAt > pacer.refusedAt,
    quota,
  }
}

/** How a request was refused. */
export interface Refusal {
  readonly sentAt: number
  /** Milliseconds for which nothing may be sent. */
  readonly waitMs: number
  readonly quotas: readonly Quota[]
  readonly now: number
}

/**
 * A request that was refused for rate. Refusals of what was in flight together,
 * or with nothing let through in between, are one: only those of what was sent
 * before the first answer inform about the limit, all make the wait longer. A quota that the server states with
 * every answer and that is used up explains a refusal: then there is no other limit.
 */
export function requestRefused(pacer: Pacer, refusal: Refusal): Pacer {
  const { sentAt, now } = refusal
  const stated = pacer.quota && withQuotas(pacer.quota, refusal.quotas, pacer.passed, now)
  const isTelling = pacer.isRecovered || sentAt <= pacer.refusedAt
  const next = {
    ...waitTold(pacer, refusal.waitMs, now),
    ...answered(pacer, sentAt, isTelling ? true : undefined),
    quota: stated,
    level: 0,
    levelAt: now,
  }
  if (pacer.isRecovered && sentAt > pacer.refusedAt) {
    const isLessonDue = stated?.remaining !== 0
    return { ...next, refusedAt: now, isRecovered: false, isLessonDue }
  }
  const { limit } = pacer
  return { ...next, limit: limit && { ...limit, since: next.resumeAt } }
}

/** Holds everything back for a time. */
export function waitTold(pacer: Pacer, waitMs: number, now: number): Pacer {
  return { ...pacer, resumeAt: Math.max(pacer.resumeAt, now + waitMs) }
}

/** What is to be kept of the limit; undefined when none was met. */
export function learnedLimit({ limit, quota }: Pacer): LearnedLimit | undefined {
  if (limit !== undefined && isMeasured(limit)) {
    const { low, burst, measuredAt } = limit
    return { rate: low, burst, source: 'refusals', measuredAt }
  }
  if (quota === undefined || quota.refill === 0 || quota.remaining > quota.limit / 2)
    return undefined
  return { rate: quota.refill, burst: quota.limit, source: 'headers', measuredAt: quota.at }
}

/** All that was sent before is answered, or counts as passed. */
function withLesson(before: Pacer, now: number): Pacer {
  const pacer = withoutOldest({ ...before, bucket: faded(before.bucket) }, 0)
  return { ...pacer, limit: limitOf(pacer.bucket, pacer.refusedAt, now), isLessonDue: false }
}

/** One answer that takes long does not keep what was sent after it from being counted for ever. */
const MOST_UNSETTLED = 64

/** Reckons requests in the order they were sent; of more than `most`, those under way as passed. */
function withoutOldest(pacer: Pacer, most: number): Pacer {
  let { bucket } = pacer
  let count = 0
  for (const { at, isRefused } of pacer.sent) {
    if (isRefused === undefined && pacer.sent.length - count <= most) break
    bucket = withRequest(bucket, at, isRefused ?? false)
    count += 1
  }
  if (count === 0) return pacer
  const limit = pacer.limit && { ...pacer.limit, ...rangeOf(bucket) }
  return { ...pacer, bucket, limit, sent: pacer.sent.slice(count) }
}

/** `isRefused`: undefined when it gives no information. */
function answered(
  { sent, flying }: Pacer,
  sentAt: number,
  isRefused: boolean | undefined,
): Pick<Pacer, 'sent' | 'flying'> {
  const index = sent.findIndex((each) => each.at === sentAt && each.isRefused === undefined)
  const known = isRefused === undefined ? [] : [{ at: sentAt, isRefused }]
  const next = index < 0 ? sent : sent.toSpliced(index, 1, ...known)
  return { sent: next, flying: Math.max(0, flying - 1) }
}

/** Headers only tighten: the lowest of what is configured, stated and learned. */
function rateAt(pacer: Pacer, now: number): number {
  const { limit, quota, most } = pacer
  const stated = quota === undefined ? Infinity : quotaRate(quota, pacer.flying, now)
  const learned = limit === undefined ? Infinity : limitRate(limit, levelAt(pacer, now), now)
  return Math.min(most, stated, learned)
}

function levelAt({ limit, level, levelAt: at }: Pacer, now: number): number {
  if (limit === undefined) return 0
  return Math.min(limit.burst, level + (limit.low * Math.max(0, now - at)) / 1000)
}
