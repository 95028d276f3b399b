import type { LearnedLimit } from '../../lib/learned.ts'
import type { Quota } from './headers.ts'
import {
  contradictionOf,
  faded,
  isMeasured,
  limitOf,
  limitRate,
  rangeOf,
  remembered,
  unknownBucket,
  withRequest,
  type Bucket,
  type Limit,
} from './limit-estimator.ts'
import { quotaRate, quotaWait, withQuotas, type QuotaPacer } from './quota-pacer.ts'

/** A response to the request sent at `sentAt`, and the quotas that it states. */
interface Heard {
  readonly sentAt: number
  readonly quotas: readonly Quota[]
  readonly now: number
}

/** A request that is late by at most this much does not delay the next one. */
const CATCH_UP_MS = 15

/** Tokens by which requests contradict a limit that changed, or that is none. */
const CONTRADICTED = 0.2

/** A limit that changed is contradicted at fewer refusals in a row. */
const MOST_CONTRADICTED = 3

/**
 * When the next request may be sent, as learned from the outcome of earlier ones (README.md
 * explains the model). Times are milliseconds since the epoch, rates are requests a second.
 */
export class Pacer {
  /** The highest rate that the configuration allows. */
  readonly #most: number
  /** Undefined before the first refusal. */
  #limit: Limit | undefined
  /** The estimate of the server's bucket from the requests that were answered. */
  #bucket: Bucket
  /** The quota that headers state. */
  #quota: QuotaPacer | undefined
  /** Requests that were answered and not refused. */
  #passed = 0
  /**
   * The first of them, until the latency of the next one shows when it reached the server: it also
   * opened the connection.
   */
  #first: Heard | undefined
  #inFlight = 0
  /** When the last request was due. */
  #turnAt: number
  #resumeAt: number
  /** The estimated number of tokens in the bucket at a time. */
  #level: { readonly tokens: number; readonly at: number }
  /** When the last refusal came, and whether a request that was sent later has passed. */
  #refusedAt = -Infinity
  #isRecovered = true
  /** Whether the last refusal has still to be evaluated. */
  #isRefusalUnevaluated = false
  /** Consecutive refusals at which no limit agreed with the requests. */
  #contradicted = 0

  constructor(most: number, learned: LearnedLimit | null, now: number) {
    const { limit, bucket } = remembered(learned, now)
    this.#most = most
    this.#limit = limit
    this.#bucket = bucket
    this.#turnAt = now - CATCH_UP_MS
    this.#resumeAt = now
    this.#level = { tokens: limit?.burst ?? 0, at: now }
  }

  get inFlight(): number {
    return this.#inFlight
  }

  /** No request may be sent before this time, because a response said so. */
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
    const stated = this.#quota === undefined ? 0 : quotaWait(this.#quota, this.#inFlight, now)
    const gap = 1000 / this.#rateAt(now)
    return Math.max(stated, Math.min(gap, Math.max(0, this.#turnAt + gap - now)))
  }

  /**
   * Records that a request is sent. The first one after a refusal evaluates it, because
   * by then all requests that were in flight with it have been answered.
   */
  sent(now: number): void {
    if (this.#isRefusalUnevaluated) this.#learn(now)
    const turn = Math.max(this.#turnAt + 1000 / this.#rateAt(now), now - CATCH_UP_MS)
    this.#turnAt = Math.min(turn, now)
    this.#level = { tokens: this.#tokensAt(now) - 1, at: now }
    this.#inFlight += 1
  }

  /**
   * Records a request that was not refused: it was answered, or failed after the server may
   * have counted it. A quota that the server states replaces the remembered limit.
   */
  passed(heard: Heard): void {
    const { sentAt, quotas, now } = heard
    this.#passed += 1
    this.#quota = withQuotas(this.#quota, quotas, this.#passed, now)
    if (this.#quota !== undefined && this.#refusedAt === -Infinity) this.#limit = undefined
    this.#answered(heard, false)
    if (sentAt > this.#refusedAt) this.#isRecovered = true
  }

  /**
   * Records a request that the rate limit refused; call it after `hold`. Refusals of requests
   * that were in flight together, or with no passed request in between, count as one: only those of
   * requests sent before the first refusal arrived say something about the limit. If a quota that
   * the server states with every response is used up, it explains the refusal, and no other limit is
   * assumed.
   */
  refused(heard: Heard): void {
    const { sentAt, quotas, now } = heard
    const isFirst = this.#isRecovered && sentAt > this.#refusedAt
    const isInformative = this.#isRecovered || sentAt <= this.#refusedAt
    this.#quota = this.#quota && withQuotas(this.#quota, quotas, this.#passed, now)
    if (isFirst) this.#bucket = faded(this.#bucket)
    this.#answered(heard, isInformative ? true : undefined)
    this.#level = { tokens: 0, at: now }
    if (isFirst) {
      this.#refusedAt = now
      this.#isRecovered = false
      this.#isRefusalUnevaluated = this.#quota?.remaining !== 0
    } else this.#limit = this.#limit && { ...this.#limit, since: this.#resumeAt }
  }

  /** Holds every request back for a time; of two holds, the longer counts. */
  hold(waitMs: number, now: number): void {
    this.#resumeAt = Math.max(this.#resumeAt, now + waitMs)
  }

  /**
   * The limit to remember; undefined if none was met. Its rate is above the lowest plausible one,
   * with which the next run would take up to a tenth longer than the limit requires.
   */
  learned(): LearnedLimit | undefined {
    if (this.#limit !== undefined && isMeasured(this.#limit)) {
      const { low, high, burst, measuredAt } = this.#limit
      return { rate: low ** 0.75 * high ** 0.25, burst, source: 'refusals', measuredAt }
    }
    const { refill = 0, remaining = 0, limit = 0, at = 0 } = this.#quota ?? {}
    if (refill === 0 || limit === 0 || remaining > limit / 2) return undefined
    return { rate: refill, burst: limit, source: 'headers', measuredAt: at }
  }

  #learn(now: number): void {
    this.#limit = limitOf(this.#bucket, this.#refusedAt, now)
    this.#isRefusalUnevaluated = false
    const isContradicted = contradictionOf(this.#bucket) >= CONTRADICTED
    this.#contradicted = isContradicted ? this.#contradicted + 1 : 0
    if (this.#contradicted < MOST_CONTRADICTED) return
    // Refusals that do not depend on the rate, such as those of an overloaded gateway, look like an
    // ever lower limit: the rate would fall without end. So the limit is forgotten.
    this.#bucket = unknownBucket(now)
    this.#limit = undefined
    this.#contradicted = 0
  }

  /** `isRefused`: undefined if the response says nothing about the limit. */
  #answered(heard: Heard, isRefused: boolean | undefined): void {
    const { sentAt, now } = heard
    this.#inFlight = Math.max(0, this.#inFlight - 1)
    if (isRefused === undefined) return
    if (this.#passed === 1 && !isRefused) {
      this.#first = heard
      return
    }
    if (this.#first !== undefined) {
      const reachedAt = Math.max(this.#first.sentAt, this.#first.now - (now - sentAt))
      this.#bucket = withRequest(this.#bucket, reachedAt, false)
      this.#first = undefined
    }
    this.#bucket = withRequest(this.#bucket, sentAt, isRefused)
    this.#limit = this.#limit && { ...this.#limit, ...rangeOf(this.#bucket) }
  }

  /** Headers only tighten: the lowest of what is configured, stated and learned. */
  #rateAt(now: number): number {
    const quota = this.#quota
    const limit = this.#limit
    return Math.min(
      this.#most,
      quota === undefined ? Infinity : quotaRate(quota, this.#inFlight, now),
      limit === undefined ? Infinity : limitRate(limit, this.#tokensAt(now), now),
    )
  }

  #tokensAt(now: number): number {
    if (this.#limit === undefined) return 0
    const filled = (this.#limit.low * Math.max(0, now - this.#level.at)) / 1000
    return Math.min(this.#limit.burst, this.#level.tokens + filled)
  }
}
