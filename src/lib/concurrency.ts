import PQueue from 'p-queue'
import { asError, isStop } from './errors.ts'

/**
 * Returns the results of all promises, after all have ended.
 *
 * @throws the first error that is no Stop, else the first one.
 */
export function allOrThrow<T>(promises: Iterable<Promise<T>>): Promise<T[]> {
  const all = [...promises]
  return mapLimit(all, all.length, (each) => each)
}

/**
 * Runs `work` for each item, at most `atOnce` at the same time, and returns the results in order.
 * After an error no item begins; when the running ones have ended, an error is thrown.
 *
 * @throws the first error that is no Stop, else the first one.
 */
export async function mapLimit<T, R>(
  items: Iterable<T>,
  atOnce: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const all = [...items]
  const queue = all.entries()
  const results: R[] = []
  const errors: Error[] = []
  const worker = async (): Promise<void> => {
    for (const [index, item] of queue) {
      if (errors.length > 0) return
      try {
        results[index] = await work(item)
      } catch (error) {
        errors.push(asError(error))
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, all.length) }, worker))
  const error = errors.find((each) => !isStop(each)) ?? errors[0]
  if (error !== undefined) throw error
  return results
}

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

interface Step {
  readonly name: string
  readonly dependsOn: readonly string[]
  /** Whether it runs in the first lane only. */
  readonly isPinned: boolean
}

/**
 * Runs the steps, one at a time in each lane: the earliest that is ready, in the first lane a
 * pinned one before others. A dependency that is not a step counts as done. After an error, no
 * step starts; the error is thrown when the running steps have ended.
 *
 * @param steps without a cycle.
 */
export async function runScheduled<T extends Step, Lane>(
  steps: readonly T[],
  lanes: readonly [Lane, ...Lane[]],
  work: (step: T, lane: Lane) => Promise<void>,
): Promise<void> {
  const [firstLane] = lanes
  const unfinished = new Set(steps.map(({ name }) => name))
  const waiting = [...steps]
  const underWay = new Map<Lane, Promise<unknown>>()
  const failures: unknown[] = []
  const isReady = ({ dependsOn }: T): boolean => !dependsOn.some((name) => unfinished.has(name))
  const nextOf = (lane: Lane): T | undefined => {
    const ready = waiting.filter(isReady)
    const pinned = ready.find(({ isPinned }) => isPinned)
    const other = ready.find(({ isPinned }) => !isPinned)
    return lane === firstLane ? (pinned ?? other) : other
  }
  const begin = (lane: Lane, step: T): void => {
    waiting.splice(waiting.indexOf(step), 1)
    const working = work(step, lane)
      .catch((error: unknown) => void failures.push(error))
      .finally(() => {
        underWay.delete(lane)
        unfinished.delete(step.name)
      })
    underWay.set(lane, working)
  }
  while (unfinished.size > 0 && failures.length === 0) {
    for (const lane of lanes) {
      const next = underWay.has(lane) ? undefined : nextOf(lane)
      if (next !== undefined) begin(lane, next)
    }
    await Promise.race(underWay.values())
  }
  await Promise.all(underWay.values())
  if (failures.length > 0) throw failures[0]
}
