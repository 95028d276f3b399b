import type { LearntLimit } from '../core/learnt.ts'
import { shapeAt, withMark, type Mark, type Shape } from './bucket.ts'
import { learnLimit, limitRate, rememberedLimit, rememberedShape, type Limit } from './limit.ts'
import { quotaRate, quotaWait, withQuotas, type QuotaPace } from './quota-pace.ts'
import type { Quota } from './quota.ts'

/**
 * When the next request may be sent, as learnt from what became of those before:
 * a state, and a function for each thing that happens. Times are milliseconds
 * since the epoch, rates are requests a second.
 */
export interface Pace {
  /** The rate, at most. */
  readonly most: number
  readonly beganAt: number
  /** Requests that were answered and not refused. */
  readonly passed: number
  /** Requests under way. */
  readonly flying: readonly Mark[]
  /** The turn of the last request. */
  readonly turnAt: number
  /** Told: nothing may be sent before. */
  readonly resumeAt: number
  readonly limit: Limit
  /** The server's bucket as the first refusal showed it. */
  readonly shape: Shape | undefined
  /** Tokens that the bucket is believed to hold at that time. */
  readonly level: number
  readonly levelAt: number
  /** The last refusal that was learnt from, and what was sent since. */
  readonly learntFrom: Mark | undefined
  readonly marks: readonly Mark[]
  /** When the last refusal was heard of, and whether a request has passed that was sent since. */
  readonly refusedAt: number
  readonly isRecovered: boolean
  /** When the refused request was sent, until it is learnt from. */
  readonly refusal: number | undefined
  /** What the answers' headers say. */
  readonly quota: QuotaPace | undefined
  /** Milliseconds of a round trip, and by how much they vary, of late. */
  readonly roundTrip: number | undefined
  readonly jitter: number
}

/** A turn that was missed by less is made up for. */
const CATCH_UP_MS = 15

/** Begins with what an earlier run learnt. */
export function beginPace(most: number, learnt: LearntLimit | undefined, now: number): Pace {
  const limit = rememberedLimit(learnt, now)
  return {
    most,
    beganAt: now,
    passed: 0,
    flying: [],
    turnAt: now - CATCH_UP_MS,
    resumeAt: now,
    limit,
    shape: rememberedShape(limit),
    level: limit.kind === 'known' ? limit.burst : 0,
    levelAt: now,
    learntFrom: undefined,
    marks: [],
    refusedAt: -Infinity,
    isRecovered: true,
    refusal: undefined,
    quota: undefined,
    roundTrip: undefined,
    jitter: 0,
  }
}

/** Milliseconds until the next request may be sent; 0 when it may be now. */
export function waitOfPace(pace: Pace, now: number): number {
  if (now < pace.resumeAt) return pace.resumeAt - now
  const { quota, flying, turnAt } = pace
  const told = quota === undefined ? 0 : quotaWait(quota, flying.length, now)
  const gap = 1000 / rateAt(pace, now)
  return Math.max(told, Math.min(gap, Math.max(0, turnAt + gap - now)))
}

/**
 * A request that is sent. The first one after a refusal is the time to learn
 * from it: what was in flight with it has been answered.
 */
export function paceSent(before: Pace, now: number): Pace {
  const pace = before.refusal === undefined ? before : withLesson(before, before.refusal, now)
  const turn = Math.max(pace.turnAt + 1000 / rateAt(pace, now), now - CATCH_UP_MS)
  const mark = { at: now, passed: pace.passed + pace.flying.length }
  return {
    ...pace,
    turnAt: Math.min(turn, now),
    flying: [...pace.flying, mark],
    marks: withMark(pace.marks, mark),
    level: levelAt(pace, now) - 1,
    levelAt: now,
  }
}

/**
 * A request that was not refused: answered, or lost after it may have been
 * counted. What a server says of its quota goes before what is remembered.
 */
export function pacePassed(
  pace: Pace,
  sentAt: number,
  quotas: readonly Quota[],
  now: number,
): Pace {
  const passed = pace.passed + 1
  const quota = withQuotas(pace.quota, quotas, passed, now)
  const isRemembered = pace.limit.kind === 'known' && pace.learntFrom === undefined
  return {
    ...pace,
    passed,
    limit: quota !== undefined && isRemembered ? { kind: 'none' } : pace.limit,
    flying: landed(pace.flying, sentAt),
    isRecovered: pace.isRecovered || sentAt > pace.refusedAt,
    quota,
    ...withRoundTrip(pace, now - sentAt),
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
 * or with nothing let through in between, are one: the first tells of the limit,
 * the others can only make the wait longer. A quota that the server tells with
 * every answer and that is used up explains a refusal: then there is no other limit.
 */
export function paceRefused(pace: Pace, refusal: Refusal): Pace {
  const { sentAt, now } = refusal
  const told = pace.quota && withQuotas(pace.quota, refusal.quotas, pace.passed, now)
  const next = {
    ...paceHeld(pace, refusal.waitMs, now),
    flying: landed(pace.flying, sentAt),
    quota: told,
    level: 0,
    levelAt: now,
  }
  if (pace.isRecovered && sentAt > pace.refusedAt) {
    const lesson = told?.remaining === 0 ? undefined : sentAt
    return { ...next, refusedAt: now, isRecovered: false, refusal: lesson }
  }
  if (pace.refusal !== undefined) return { ...next, refusal: Math.min(pace.refusal, sentAt) }
  const { limit } = pace
  return { ...next, limit: limit.kind === 'none' ? limit : { ...limit, since: next.resumeAt } }
}

/** Holds everything back for a time. */
export function paceHeld(pace: Pace, waitMs: number, now: number): Pace {
  return { ...pace, resumeAt: Math.max(pace.resumeAt, now + waitMs) }
}

/** What is to be kept of the limit; undefined when none was met. */
export function learntOf({ limit, quota }: Pace): LearntLimit | undefined {
  if (limit.kind === 'known') {
    const { rate, burst, measuredAt } = limit
    return { rate, burst, source: 'refusals', measuredAt }
  }
  if (quota === undefined || quota.refill === 0 || quota.remaining > quota.limit / 2)
    return undefined
  return { rate: quota.refill, burst: quota.limit, source: 'headers', measuredAt: quota.at }
}

function withLesson(pace: Pace, sentAt: number, now: number): Pace {
  const refusal = { at: sentAt, passed: pace.passed }
  const { limit, shape } = learnLimit(pace.limit, pace.shape, {
    refusal,
    refusedAt: pace.refusedAt,
    now,
    beganAt: pace.beganAt,
    shape: shapeAt(pace.marks, refusal),
    before: pace.learntFrom,
    rate: rateAt(pace, pace.refusedAt),
    jitter: pace.jitter,
  })
  return { ...pace, refusal: undefined, learntFrom: refusal, marks: [], limit, shape }
}

function landed(flying: readonly Mark[], sentAt: number): readonly Mark[] {
  const index = flying.findIndex(({ at }) => at === sentAt)
  return flying.filter((_, each) => each !== index)
}

function withRoundTrip(pace: Pace, ms: number): Pick<Pace, 'roundTrip' | 'jitter'> {
  const { roundTrip = ms, jitter } = pace
  return {
    roundTrip: roundTrip + (ms - roundTrip) / 8,
    jitter: jitter + (Math.abs(ms - roundTrip) - jitter) / 8,
  }
}

/** Headers only tighten: the lowest of what is allowed, told and learnt. */
function rateAt(pace: Pace, now: number): number {
  const { limit, quota, most } = pace
  const told = quota === undefined ? Infinity : quotaRate(quota, pace.flying.length, now)
  return Math.min(most, told, limitRate(limit, levelAt(pace, now), now))
}

function levelAt({ limit, level, levelAt: at }: Pace, now: number): number {
  if (limit.kind !== 'known') return 0
  return Math.min(limit.burst, level + (limit.rate * Math.max(0, now - at)) / 1000)
}
