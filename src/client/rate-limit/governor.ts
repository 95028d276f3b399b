import { MS_PER_DAY } from '../../lib/days.ts'
import PQueue from 'p-queue'
import { DeferredError } from '../../lib/errors.ts'
import type { Learned } from '../../lib/learned.ts'
import type { World } from '../../lib/world.ts'
import {
  beginConcurrency,
  withAnswer,
  withSent,
  type Concurrency,
  type Health,
} from './concurrency.ts'
import {
  newPacer,
  learnedLimit,
  waitTold,
  requestPassed,
  requestRefused,
  requestSent,
  pacerWait,
  type Pacer,
} from './pacer.ts'
import { outOfTime } from '../errors.ts'
import { quotasOf, type Headers } from './headers.ts'
import { serverClock } from './header-values.ts'

export interface GovernorOptions {
  /** Requests a second, at most. */
  readonly rate: number
  /** Requests in flight, at most. */
  readonly concurrency: number
  /** When the run must be over, milliseconds since the epoch. */
  readonly deadline: number
  /** What an earlier run learned. */
  readonly learned?: Learned
}

/** An answer, or the lack of one. */
export interface Outcome {
  /** Requests of one kind are alike in what they cost the server. */
  readonly kind: string
  readonly sentAt: number
  readonly headers: Headers
  readonly health: Health
}

/** A wait that an answer asks for, in milliseconds, and the answer in words. */
export interface Hold {
  readonly waitMs: number
  readonly reason: string
}

/** Timers of Node.js wrap around beyond 2^31 ms; a longer wait is slept in parts. */
const LONGEST_TIMER_MS = MS_PER_DAY

/**
 * One object in front of every request of one credential. It learns how fast
 * requests may follow each other (pace.ts) and how many may be in flight
 * (concurrency.ts); when one request has to wait, all wait.
 */
export class Governor {
  readonly #queue: PQueue
  readonly #world: World
  readonly #deadline: number
  readonly #before: Learned | undefined
  #pacer: Pacer
  #concurrency: Concurrency
  /** While the door is closed for requests that wait: the sleep until it opens. */
  #nap: { readonly endsAt: number; readonly over: AbortController } | undefined
  #deferral: DeferredError | undefined

  constructor(options: GovernorOptions, world: World) {
    const { rate, concurrency, learned: learned } = options
    this.#world = world
    this.#deadline = options.deadline
    this.#before = learned
    this.#pacer = newPacer(rate, learned?.limit ?? undefined, world.now())
    this.#concurrency = beginConcurrency(learned?.concurrency ?? 1, concurrency, world.now())
    this.#queue = new PQueue({ concurrency: this.#concurrency.limit })
    world.signal.addEventListener('abort', () => {
      this.#nap?.over.abort()
    })
  }

  /**
   * Runs one request when its turn has come; a repeated one comes before new ones.
   * The request is called when it may be sent, and reports its outcome:
   * `answered` or `refused`.
   *
   * @throws DeferredError when the run has no time left, or the platform asks for a longer wait.
   */
  run<T>(request: (sentAt: number) => Promise<T>, isRepeated: boolean): Promise<T> {
    const result = this.#queue.add(
      async () => {
        this.#checkTime()
        const sentAt = this.#world.now()
        this.#pacer = requestSent(this.#pacer, sentAt)
        this.#concurrency = withSent(this.#concurrency, this.#pacer.flying)
        this.#keepPacer()
        return request(sentAt)
      },
      { priority: isRepeated ? 1 : 0 },
    )
    this.#keepPacer()
    return result
  }

  /** Learns from a request that was not refused for rate. */
  answered(outcome: Outcome): void {
    const now = this.#world.now()
    this.#pacer = requestPassed(this.#pacer, outcome.sentAt, quotasIn(outcome.headers, now), now)
    this.#concurrency = withAnswer(this.#concurrency, { ...outcome, now })
    this.#applyConcurrency()
    this.#keepPacer()
  }

  /**
   * Learns from a request that was refused for rate, and holds every request back.
   * @throws DeferredError when the wait would outlast the run.
   */
  refused(sentAt: number, headers: Headers, hold: Hold): void {
    const now = this.#world.now()
    const before = this.#pacer.resumeAt
    const refusal = { sentAt, now, waitMs: hold.waitMs, quotas: quotasIn(headers, now) }
    this.#pacer = requestRefused(this.#pacer, refusal)
    this.#applyConcurrency()
    this.#pause(hold, before)
  }

  /**
   * Holds every request back for another reason.
   * @throws DeferredError when the wait would outlast the run.
   */
  hold(hold: Hold): void {
    const before = this.#pacer.resumeAt
    this.#pacer = waitTold(this.#pacer, hold.waitMs, this.#world.now())
    this.#pause(hold, before)
  }

  /** What was learned in this run or before. */
  learned(): Learned {
    const limit = learnedLimit(this.#pacer) ?? this.#before?.limit ?? null
    return { limit, concurrency: this.#concurrency.limit }
  }

  #pause(hold: Hold, before: number): void {
    const { resumeAt } = this.#pacer
    if (resumeAt > this.#deadline) {
      this.#deferral ??= deferral(hold)
      this.#keepPacer()
      throw this.#deferral
    }
    if (resumeAt > before) this.#world.emit({ type: 'governor.paused', ...hold })
    this.#keepPacer()
  }

  /** After a refusal one request goes ahead, and the others when it has passed. */
  #applyConcurrency(): void {
    const limit = this.#pacer.isRecovered ? this.#concurrency.limit : 1
    if (limit !== this.#queue.concurrency) this.#queue.concurrency = limit
  }

  /** Closes the door until the next request may go; opens it in time for one that waits. */
  #keepPacer(): void {
    const wait = this.#waitMs()
    if (this.#nap !== undefined) {
      if (this.#world.now() + wait < this.#nap.endsAt) this.#nap.over.abort()
    } else if (wait === 0) {
      this.#queue.start()
    } else {
      this.#queue.pause()
      if (this.#queue.size > 0) void this.#openInTime()
    }
  }

  async #openInTime(): Promise<void> {
    for (let wait = this.#waitMs(); wait > 0; wait = this.#waitMs()) {
      if (this.#isPointless(wait)) break
      const ms = Math.min(Math.ceil(wait), LONGEST_TIMER_MS)
      const over = new AbortController()
      this.#nap = { endsAt: this.#world.now() + ms, over }
      try {
        await this.#world.sleep(ms, over.signal)
      } catch {
        // Woken: there is something new to know.
      }
    }
    this.#nap = undefined
    this.#queue.start()
  }

  /** True when the run ends before the next request may be sent: with an answer to come it may be sooner. */
  #isPointless(wait: number): boolean {
    const now = this.#world.now()
    if (now + wait <= this.#deadline || this.#pacer.flying > 0) return false
    this.#deferral ??= deferral({ waitMs: wait, reason: 'its quota is used up' })
    return true
  }

  #waitMs(): number {
    if (this.#deferral !== undefined || this.#world.signal.aborted) return 0
    return pacerWait(this.#pacer, this.#world.now())
  }

  #checkTime(): void {
    this.#world.signal.throwIfAborted()
    if (this.#deferral !== undefined) throw this.#deferral
    if (this.#world.now() >= this.#deadline) throw outOfTime()
  }
}

/** The server's clock is somewhere in the second that its `Date` names: where ours is, if in it. */
function quotasIn(headers: Headers, now: number): ReturnType<typeof quotasOf> {
  const second = serverClock(headers, now)
  return quotasOf(headers, Math.min(Math.max(now, second), second + 999))
}

function deferral({ waitMs, reason }: Hold): DeferredError {
  return new DeferredError(
    `${reason}: the platform asks to wait ${Math.ceil(waitMs / 1000)} s, longer than this run may last`,
    { hint: 'What has landed is kept; the next run goes on from there.' },
  )
}
