import PQueue from 'p-queue'
import { DeferredError } from '../core/errors.ts'
import type { World } from '../core/world.ts'

export interface GovernorOptions {
  /** Requests a second, at most. */
  readonly rate: number
  /** Requests in flight, at most. */
  readonly concurrency: number
  /** When the run must be over, milliseconds since the epoch. */
  readonly deadline: number
}

/** Timers of Node.js wrap around beyond 2^31 ms; a longer wait is slept in parts. */
const LONGEST_TIMER_MS = 86_400_000

/**
 * One object in front of every request of one credential: no more than a rate
 * and a concurrency, and when one request is told to wait, all wait.
 */
export class Governor {
  readonly #queue: PQueue
  readonly #world: World
  readonly #deadline: number
  #resumeAt = 0
  #pause: Promise<void> | undefined

  constructor(options: GovernorOptions, world: World) {
    const perWindow = Math.max(1, Math.floor(options.rate / 10))
    this.#queue = new PQueue({
      concurrency: options.concurrency,
      intervalCap: perWindow,
      interval: (1000 * perWindow) / options.rate,
      strict: true,
    })
    this.#world = world
    this.#deadline = options.deadline
  }

  /** Runs one request when its turn has come. Before that, a stop of the run ends the waiting. */
  async run<T>(request: () => Promise<T>): Promise<T> {
    const { signal } = this.#world
    const waiting = new AbortController()
    const stop = (): void => {
      waiting.abort(signal.reason)
    }
    signal.addEventListener('abort', stop)
    const begin = async (): Promise<T> => {
      await this.#pause
      signal.throwIfAborted()
      signal.removeEventListener('abort', stop)
      return request()
    }
    try {
      signal.throwIfAborted()
      return await this.#queue.add(begin, { signal: waiting.signal })
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  /**
   * Holds every request for `waitMs`; overlapping holds last as long as the
   * longest. The wait is never cut short: when it would outlast the run, this
   * throws DeferredError at once.
   */
  async hold(waitMs: number, reason: string): Promise<void> {
    const until = this.#world.now() + waitMs
    if (until > this.#deadline) throw deferral(waitMs, reason)
    if (until > this.#resumeAt) {
      this.#resumeAt = until
      this.#world.emit({ type: 'governor.paused', waitMs, reason })
      this.#pause ??= this.#sleepUntilResume()
    }
    await this.#pause
  }

  /** @throws DeferredError when the run has no time left. */
  checkDeadline(): void {
    if (this.#world.now() >= this.#deadline) {
      throw new DeferredError('the time that --max-duration gives is over', {
        hint: 'What has landed is kept; the next run goes on from there.',
      })
    }
  }

  async #sleepUntilResume(): Promise<void> {
    for (;;) {
      const left = this.#resumeAt - this.#world.now()
      if (left <= 0) break
      await this.#world.sleep(Math.min(left, LONGEST_TIMER_MS), this.#world.signal)
    }
    this.#pause = undefined
  }
}

function deferral(waitMs: number, reason: string): DeferredError {
  return new DeferredError(
    `${reason}: the platform asks to wait ${Math.ceil(waitMs / 1000)} s, longer than this run may last`,
    { hint: 'What has landed is kept; the next run goes on from there.' },
  )
}
