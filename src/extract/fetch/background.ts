/**
 * Processes items while the platform is asked for more. Items that arrive when all workers are
 * busy wait, and are then processed together. The next `add` and `ended` throw its errors.
 */
export class Background<T> {
  readonly #options: BackgroundOptions<T>
  readonly #underWay = new Set<Promise<void>>()
  #waiting: T[] = []
  #failure: { readonly error: unknown } | undefined

  constructor(options: BackgroundOptions<T>) {
    this.#options = options
  }

  /** Queues an item; resolves when the next one may be added. @throws an error of earlier work. */
  async add(item: T): Promise<void> {
    this.#throwFailure()
    this.#waiting.push(item)
    this.#begin()
    while (this.#isFull()) await Promise.race(this.#underWay)
  }

  /** Resolves when all work has ended. @throws an error of the work. */
  async ended(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay)
    this.#throwFailure()
  }

  #begin(): void {
    if (this.#waiting.length === 0 || this.#underWay.size >= this.#options.atOnce) return
    const items = this.#waiting
    this.#waiting = []
    const done = this.#options
      .work(items)
      .catch((error: unknown) => {
        this.#failure ??= { error }
        this.#waiting = []
      })
      .finally(() => {
        this.#underWay.delete(done)
        this.#begin()
      })
    this.#underWay.add(done)
  }

  #isFull(): boolean {
    const { sizeOf, mostWaiting } = this.#options
    return this.#waiting.reduce((sum, item) => sum + sizeOf(item), 0) > mostWaiting
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error
  }
}

interface BackgroundOptions<T> {
  /** Works on items together. */
  readonly work: (items: readonly T[]) => Promise<void>
  /** Maximum number of concurrent calls of `work`. */
  readonly atOnce: number
  readonly sizeOf: (item: T) => number
  /** `add` waits while the waiting items are larger than this in total. */
  readonly mostWaiting: number
}
