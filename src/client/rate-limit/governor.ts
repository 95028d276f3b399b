import { MS_PER_DAY } from '../../lib/days.ts'
import PQueue from 'p-queue'
import type { DeferredError } from '../../lib/errors.ts'
import type { Learned, LearnedLimit } from '../../lib/learned.ts'
import type { World } from '../../lib/world.ts'
import { Concurrency, type Health } from './concurrency.ts'
import { stillKnown } from './limit-estimator.ts'
import { Pacer } from './pacer.ts'
import { deferral, outOfTime } from '../errors.ts'
import { quotasOf, type Headers } from './headers.ts'
import { serverClock } from './header-values.ts'

export interface GovernorOptions {
  /** The highest number of requests a second. */
  readonly rate: number
  /** The highest number of requests in flight. */
  readonly concurrency: number
  /** When the run must be over, milliseconds since the epoch. */
  readonly deadline: number
  /** What `learned()` of an earlier client returned: this one begins with these limits. */
  readonly learned?: Learned | undefined
}

/** How a request ended. */
interface Outcome {
  /** Requests of one kind cost the server about the same. */
  readonly kind: string
  readonly sentAt: number
  readonly headers: Headers
  /** `refused`: by a rate limit. */
  readonly health: Health | 'refused'
  /** The wait that the response asks for; it applies to every request. */
  readonly hold?: Hold
}

interface Hold {
  readonly waitMs: number
  /** The error that the response became. */
  readonly reason: Error
}

/** Timers of Node.js wrap around beyond 2^31 ms; a longer wait is slept in parts. */
const LONGEST_TIMER_MS = MS_PER_DAY

/**
 * One object in front of every request of one credential. It learns how fast
 * requests may follow each other (Pacer) and how many may be in flight
 * (Concurrency); when one request has to wait, all wait.
 */
export class Governor {
  readonly #queue: PQueue
  readonly #world: World
  readonly #deadline: number
  /** The limit that an earlier run learned. */
  readonly #before: LearnedLimit | null
  readonly #pacer: Pacer
  readonly #concurrency: Concurrency
  /** The sleep until the paused queue starts again; undefined while nothing waits for it. */
  #sleep: { readonly endsAt: number; readonly over: AbortController } | undefined
  #deferral: DeferredError | undefined

  constructor(options: GovernorOptions, world: World) {
    const { rate, concurrency, learned } = options
    const now = world.now()
    this.#world = world
    this.#deadline = options.deadline
    this.#before = stillKnown(learned?.limit ?? null, now)
    this.#pacer = new Pacer(rate, this.#before, now)
    this.#concurrency = new Concurrency(learned?.concurrency ?? 1, concurrency, now)
    this.#queue = new PQueue({ concurrency: this.#concurrency.limit })
  }

  /**
   * Calls `request` when it may be sent; a retry goes before new requests. The
   * request reports its outcome to `answered`. After `world.signal`, a request that waits for
   * its turn fails at once.
   *
   * @throws DeferredError when the run has no time left, or the platform asks for a longer wait.
   */
  run<T>(request: (sentAt: number) => Promise<T>, isRepeated: boolean): Promise<T> {
    const { signal } = this.#world
    const waiting = new AbortController()
    const leave = (): void => {
      waiting.abort(signal.reason)
    }
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave)
    const result = this.#queue.add(
      async () => {
        signal.removeEventListener('abort', leave) // the response is awaited
        this.#checkTime()
        const sentAt = this.#world.now()
        this.#pacer.sent(sentAt)
        this.#concurrency.sent(this.#pacer.inFlight)
        this.#keepPace()
        return request(sentAt)
      },
      { priority: isRepeated ? 1 : 0, signal: waiting.signal },
    )
    this.#keepPace()
    return result
  }

  /**
   * Learns from the outcome of a request, and holds every request back if it asks for a wait.
   *
   * @throws DeferredError when the wait would outlast the run.
   */
  answered({ health, hold, ...outcome }: Outcome): void {
    const now = this.#world.now()
    const { resumeAt } = this.#pacer
    const observed = { sentAt: outcome.sentAt, now, quotas: quotasIn(outcome.headers, now) }
    if (hold !== undefined) this.#pacer.hold(hold.waitMs, now)
    if (health === 'refused') this.#pacer.refused(observed)
    else {
      this.#pacer.passed(observed)
      this.#concurrency.answered({ ...outcome, health, now })
    }
    // after a refusal one request goes ahead, and the others when it has passed
    const limit = this.#pacer.isRecovered ? this.#concurrency.limit : 1
    if (limit !== this.#queue.concurrency) this.#queue.concurrency = limit
    const isTooLong = hold !== undefined && this.#pacer.resumeAt > this.#deadline
    if (isTooLong) this.#deferral ??= tooLong(hold.waitMs, hold.reason.message, hold.reason)
    else if (hold !== undefined && this.#pacer.resumeAt > resumeAt) {
      this.#world.emit({ type: 'governor.paused', ...hold, reason: hold.reason.message })
    }
    this.#keepPace()
    if (isTooLong && this.#deferral !== undefined) throw this.#deferral
  }

  learned(): Learned {
    const limit = this.#pacer.learned() ?? this.#before
    return { limit, concurrency: this.#concurrency.limit }
  }

  /** Pauses the queue until the next request may be sent, and starts it again in time. */
  #keepPace(): void {
    const wait = this.#waitMs()
    if (this.#sleep !== undefined) {
      if (this.#world.now() + wait < this.#sleep.endsAt) this.#sleep.over.abort()
    } else if (wait === 0) {
      this.#queue.start()
    } else {
      this.#queue.pause()
      if (this.#queue.size > 0) void this.#openInTime()
    }
  }

  async #openInTime(): Promise<void> {
    const { signal } = this.#world
    const wake = (): void => this.#sleep?.over.abort()
    signal.addEventListener('abort', wake) // no longer than it sleeps: the signal outlives it
    for (let wait = this.#waitMs(); wait > 0; wait = this.#waitMs()) {
      if (this.#isPointless(wait)) break
      const ms = Math.min(Math.ceil(wait), LONGEST_TIMER_MS)
      const over = new AbortController()
      this.#sleep = { endsAt: this.#world.now() + ms, over }
      try {
        await this.#world.sleep(ms, over.signal)
      } catch {
        // Woken by a response: the wait is computed again.
      }
    }
    signal.removeEventListener('abort', wake)
    this.#sleep = undefined
    this.#queue.start()
  }

  /** True if the run ends before the next request may be sent. A response that is still to come may shorten the wait. */
  #isPointless(wait: number): boolean {
    const now = this.#world.now()
    if (now + wait <= this.#deadline || this.#pacer.inFlight > 0) return false
    this.#deferral ??= tooLong(wait, 'its quota is used up')
    return true
  }

  #waitMs(): number {
    if (this.#deferral !== undefined || this.#world.signal.aborted) return 0
    return this.#pacer.wait(this.#world.now())
  }

  #checkTime(): void {
    this.#world.signal.throwIfAborted()
    if (this.#deferral !== undefined) throw this.#deferral
    if (this.#world.now() >= this.#deadline) throw outOfTime()
  }
}

/** `Date` has whole seconds: the server's clock is taken to be as close to ours as that second allows. */
function quotasIn(headers: Headers, now: number): ReturnType<typeof quotasOf> {
  const second = serverClock(headers, now)
  return quotasOf(headers, Math.min(Math.max(now, second), second + 999))
}

function tooLong(waitMs: number, reason: string, cause?: Error): DeferredError {
  const seconds = Math.ceil(waitMs / 1000)
  const next = `the next request may be sent in ${seconds} s, which is after the time limit`
  return deferral(`${reason}; ${next}`, cause)
}
