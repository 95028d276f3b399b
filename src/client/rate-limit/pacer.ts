import type { LearnedLimit } from '../../lib/learned.ts'
import type { Quota } from './headers.ts'
import {
  faded,
  isMeasured,
  limitOf,
  limitRate,
  rangeOf,
  remembered,
  withRequest,
  type Bucket,
  type Limit,
} from './limit-estimator.ts'
import { quotaRate, quotaWait, withQuotas, type QuotaPacer } from './quota-pacer.ts'

/** An answer to a request that was sent at that time, and what it says of quotas. */
export interface Heard {
  readonly sentAt: number
  readonly quotas: readonly Quota[]
  readonly now: number
}

/** A request, and whether it was refused: undefined while it is under way. */
interface Sent {
  readonly at: number
  readonly isRefused: boolean | undefined
}

/** A turn that was missed by less is made up for. */
const CATCH_UP_MS = 15

/** One answer that takes long does not keep what was sent after it from being counted for ever. */
const MOST_UNCOUNTED = 64

/**
 * When the next request may be sent, as learned from the outcome of earlier ones (README.md
 * explains the model). Times are milliseconds since the epoch, rates are requests a second.
 */
export class Pacer {
  /** The rate, at most. */
  readonly #most: number
  /** Undefined while none was met. */
  #limit: Limit | undefined
  /** The server's bucket by what was sent, but for the last requests: those are in `sent`. */
  #bucket: Bucket
  readonly #sent: Sent[] = []
  /** What the answers' headers say. */
  #quota: QuotaPacer | undefined
  /** Requests that were answered and not refused. */
  #passed = 0
  #flying = 0
  /** The turn of the last request. */
  #turnAt: number
  #resumeAt: number
  /** Tokens that the bucket is believed to hold at that time. */
  #level: { readonly tokens: number; readonly at: number }
  /** When the last refusal was heard of, and whether a request has passed that was sent since. */
  #refusedAt = -Infinity
  #isRecovered = true
  /** Whether a refusal was not learned from yet. */
  #isLessonDue = false

  constructor(most: number, learned: LearnedLimit | undefined, now: number) {
    const { limit, bucket } = remembered(learned, now)
    this.#most = most
    this.#limit = limit
    this.#bucket = bucket
    this.#turnAt = now - CATCH_UP_MS
    this.#resumeAt = now
    this.#level = { tokens: limit?.burst ?? 0, at: now }
  }

  get flying(): number {
    return this.#flying
  }

  /** Nothing may be sent before, as an answer said. */
  get resumeAt(): number {
    return this.#resumeAt
  }

  /** False from a refusal until a request has passed that was sent after it. */
  get isRecovered(): boolean {
    return this.#isRecovered
  }

  /** Milliseconds until the next request may be sent; 0 when it may be now. */
  wait(now: number): number {
    if (now < this.#resumeAt) return this.#resumeAt - now
    const stated = this.#quota === undefined ? 0 : quotaWait(this.#quota, this.#flying, now)
    const gap = 1000 / this.#rateAt(now)
    return Math.max(stated, Math.min(gap, Math.max(0, this.#turnAt + gap - now)))
  }

  /**
   * A request is sent. The first one after a refusal is the time to learn
   * from it: what was in flight with it has been answered.
   */
  sent(now: number): void {
    if (this.#isLessonDue) this.#learn(now)
    else this.#countAnswered(MOST_UNCOUNTED)
    const turn = Math.max(this.#turnAt + 1000 / this.#rateAt(now), now - CATCH_UP_MS)
    this.#turnAt = Math.min(turn, now)
    this.#level = { tokens: this.#tokensAt(now) - 1, at: now }
    this.#sent.push({ at: now, isRefused: undefined })
    this.#flying += 1
  }

  /**
   * A request was not refused: answered, or failed after it may have been counted. What
   * a server says of its quota goes before what is remembered.
   */
  passed({ sentAt, quotas, now }: Heard): void {
    this.#passed += 1
    this.#quota = withQuotas(this.#quota, quotas, this.#passed, now)
    if (this.#quota !== undefined && this.#refusedAt === -Infinity) this.#limit = undefined
    this.#answered(sentAt, false)
    if (sentAt > this.#refusedAt) this.#isRecovered = true
  }

  /**
   * A request was refused for rate, after `hold` where it says how long. Refusals of what was
   * in flight together, or with nothing let through in between, are one: only those of
   * what was sent before the first answer inform about the limit. A quota that the server states with
   * every answer and that is used up explains a refusal: then there is no other limit.
   */
  refused({ sentAt, quotas, now }: Heard): void {
    const isFirst = this.#isRecovered && sentAt > this.#refusedAt
    const isInformative = this.#isRecovered || sentAt <= this.#refusedAt
    this.#quota = this.#quota && withQuotas(this.#quota, quotas, this.#passed, now)
    this.#answered(sentAt, isInformative ? true : undefined)
    this.#level = { tokens: 0, at: now }
    if (isFirst) {
      this.#refusedAt = now
      this.#isRecovered = false
      this.#isLessonDue = this.#quota?.remaining !== 0
    } else this.#limit = this.#limit && { ...this.#limit, since: this.#resumeAt }
  }

  /** Holds everything back for a time; of two holds the longer counts. */
  hold(waitMs: number, now: number): void {
    this.#resumeAt = Math.max(this.#resumeAt, now + waitMs)
  }

  /** What is to be kept of the limit; undefined when none was met. */
  learned(): LearnedLimit | undefined {
    if (this.#limit !== undefined && isMeasured(this.#limit)) {
      const { low, burst, measuredAt } = this.#limit
      return { rate: low, burst, source: 'refusals', measuredAt }
    }
    const { refill = 0, remaining = 0, limit = 0, at = 0 } = this.#quota ?? {}
    if (refill === 0 || remaining > limit / 2) return undefined
    return { rate: refill, burst: limit, source: 'headers', measuredAt: at }
  }

  /** All that was sent before is answered, or counts as passed. */
  #learn(now: number): void {
    this.#bucket = faded(this.#bucket)
    this.#countAnswered(0)
    this.#limit = limitOf(this.#bucket, this.#refusedAt, now)
    this.#isLessonDue = false
  }

  /** Counts requests in the order they were sent; of more than `most`, those under way as passed. */
  #countAnswered(most: number): void {
    let count = 0
    for (const { at, isRefused } of this.#sent) {
      if (isRefused === undefined && this.#sent.length - count <= most) break
      this.#bucket = withRequest(this.#bucket, at, isRefused ?? false)
      count += 1
    }
    if (count === 0) return
    this.#sent.splice(0, count)
    this.#limit = this.#limit && { ...this.#limit, ...rangeOf(this.#bucket) }
  }

  /** `isRefused`: undefined when it gives no information. */
  #answered(sentAt: number, isRefused: boolean | undefined): void {
    this.#flying = Math.max(0, this.#flying - 1)
    const index = this.#sent.findIndex((each) => each.at === sentAt && each.isRefused === undefined)
    const known = isRefused === undefined ? [] : [{ at: sentAt, isRefused }]
    if (index >= 0) this.#sent.splice(index, 1, ...known)
  }

  /** Headers only tighten: the lowest of what is configured, stated and learned. */
  #rateAt(now: number): number {
    const quota = this.#quota
    const limit = this.#limit
    return Math.min(
      this.#most,
      quota === undefined ? Infinity : quotaRate(quota, this.#flying, now),
      limit === undefined ? Infinity : limitRate(limit, this.#tokensAt(now), now),
    )
  }

  #tokensAt(now: number): number {
    if (this.#limit === undefined) return 0
    const filled = (this.#limit.low * Math.max(0, now - this.#level.at)) / 1000
    return Math.min(this.#limit.burst, this.#level.tokens + filled)
  }
}
