import PQueue from 'p-queue'

const AT_ONCE = 2
const MOST_WAITING = 32

/**
 * Processes items while the platform is asked for more. Items that arrive when both workers are
 * busy wait, and are then processed together. The next `add` and `ended` throw its errors.
 */
export class Background<T> {
  readonly #work: (items: readonly T[]) => Promise<void>
  readonly #queue = new PQueue({ concurrency: AT_ONCE })
  #waiting: T[] = []
  #failure: { readonly error: unknown } | undefined

  constructor(work: (items: readonly T[]) => Promise<void>) {
    this.#work = work
  }

  /** Queues an item; resolves when the next one may be added. @throws an error of earlier work. */
  async add(item: T): Promise<void> {
    this.#throwFailure()
    this.#waiting.push(item)
    if (this.#waiting.length === 1) void this.#queue.add(() => this.#processWaiting())
    if (this.#waiting.length >= MOST_WAITING) await this.#queue.onSizeLessThan(1)
  }

  /** Resolves when all work has ended. @throws an error of the work. */
  async ended(): Promise<void> {
    await this.#queue.onIdle()
    this.#throwFailure()
  }

  async #processWaiting(): Promise<void> {
    const items = this.#waiting
    this.#waiting = []
    if (this.#failure !== undefined) return
    await this.#work(items).catch((error: unknown) => {
      this.#failure ??= { error }
    })
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error
  }
}
