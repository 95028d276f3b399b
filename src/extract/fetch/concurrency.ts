import { asError, CredentialError, DeferredError } from '../../lib/errors.ts'

/** What ends a run before its plan is done, and is expected. */
export type Stop = CredentialError | DeferredError

/**
 * Does the work for every item in order, some at once. The first error ends it.
 *
 * @throws the first error that was not expected, else the first one.
 */
export async function forEachLimit<T>(
  items: readonly T[],
  concurrency: number,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const queue = items.values()
  const stops: Error[] = []
  const worker = async (): Promise<void> => {
    for (const item of queue) {
      if (stops.length > 0) return
      await work(item).catch((error: unknown) => stops.push(asError(error)))
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  const stop = stops.find((each) => !isExpected(each)) ?? stops[0]
  if (stop !== undefined) throw stop
}

export function isExpected(stop: unknown): stop is Stop {
  return stop instanceof CredentialError || stop instanceof DeferredError
}

/**
 * Work that goes on while the platform is asked for more. What comes while there is no room
 * waits, and is then worked on together. Errors are thrown by the next `add`, and by `ended`.
 */
export class Background<T> {
  readonly #options: BackgroundOptions<T>
  readonly #underWay = new Set<Promise<void>>()
  #waiting: T[] = []
  #failure: { readonly error: unknown } | undefined

  constructor(options: BackgroundOptions<T>) {
    this.#options = options
  }

  /** Begins the work as soon as there is room; resolves when more may come. @throws what earlier work threw. */
  async add(item: T): Promise<void> {
    this.#throwFailure()
    this.#waiting.push(item)
    this.#begin()
    while (this.#isFull()) await Promise.race(this.#underWay)
  }

  /** Resolves when nothing is under way. @throws what some work threw. */
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
  /** How often it works at the same time, at most. */
  readonly atOnce: number
  readonly sizeOf: (item: T) => number
  /** The size of all that wait, beyond which no more may come. */
  readonly mostWaiting: number
}
