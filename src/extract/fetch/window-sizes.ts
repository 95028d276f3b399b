import type { Day, DayRange } from '../../lib/days.ts'
import type { WindowSize, KnownWindowSizes } from '../../lake/state-file.ts'
import {
  knownSize,
  learnedSize,
  bisectedSize,
  smallestRefused,
  nextSize,
  NOTHING_SEEN,
  spanOf,
  type SeenWindows,
} from '../plan/window-size.ts'

/** Tracks which window sizes each resource answered in this run, so that the next ones fit. */
export class WindowSizes {
  readonly #known: KnownWindowSizes
  readonly #seen = new Map<string, SeenWindows>()
  /** The resource being bisected. The others wait for its result. */
  #search:
    | { readonly resource: string; readonly over: Promise<void>; readonly end: () => void }
    | undefined

  /** `known`: what earlier runs learned. */
  constructor(known: KnownWindowSizes) {
    this.#known = known
  }

  /** Days that a window of the resource may span, as learned by earlier runs. */
  usual(resource: string): number {
    return knownSize(this.#known, resource)?.maxDays ?? Number.POSITIVE_INFINITY
  }

  /** Days that the next window of the resource may span. */
  next(resource: string): number {
    return nextSize(this.#knownSize(resource), this.#of(resource))
  }

  /** Days that a piece of the refused window may span. */
  bisected(resource: string, range: DayRange): number {
    return bisectedSize(range, this.#knownSize(resource), this.#of(resource))
  }

  answered(resource: string, range: DayRange): void {
    const seen = this.#of(resource)
    this.#seen.set(resource, { ...seen, answered: Math.max(seen.answered, spanOf(range)) })
    if (spanOf(range) > 1) this.#found(resource)
  }

  refused(resource: string, range: DayRange): void {
    const seen = this.#of(resource)
    this.#seen.set(resource, { ...seen, refused: [...seen.refused, range] })
  }

  failed(resource: string, days: readonly Day[]): void {
    const seen = this.#of(resource)
    this.#seen.set(resource, { ...seen, failed: new Set([...seen.failed, ...days]) })
  }

  /**
   * Bisects a refused window. If another resource is being bisected, waits for its result, which
   * is the first guess for this one.
   */
  async bisecting(resource: string, work: () => Promise<void>): Promise<void> {
    if (this.#search === undefined) {
      let end = (): void => undefined
      const over = new Promise<void>((resolve) => {
        end = resolve
      })
      this.#search = { resource, over, end }
    } else if (this.#search.resource !== resource) {
      await this.#search.over
    }
    try {
      await work()
    } finally {
      this.#found(resource)
    }
  }

  /** The sizes known after the run: of all requested resources, once any window was refused. */
  learned(now: number): KnownWindowSizes {
    const sizes = new Map(this.#known)
    for (const [resource, seen] of this.#seen) {
      const size = learnedSize(knownSize(this.#known, resource), seen, now)
      if (size !== undefined) sizes.set(resource, size)
    }
    const guess = knownSize(sizes, '')
    for (const [resource, { answered }] of this.#seen) {
      if (guess === undefined || sizes.has(resource) || answered === 0) continue
      const maxDays = Math.max(guess.maxDays, answered)
      sizes.set(resource, { maxDays, tooWide: null, learntAt: now, probedAt: now })
    }
    return sizes
  }

  #found(resource: string): void {
    if (this.#search?.resource !== resource) return
    this.#search.end()
    this.#search = undefined
  }

  /** The known size of the resource, else the smallest known size of the others. */
  #knownSize(resource: string): WindowSize | undefined {
    const sizes = new Map(this.#known)
    for (const [other, seen] of this.#seen) {
      const tooWide = smallestRefused(seen)
      if (other === resource || sizes.has(other) || tooWide === undefined) continue
      const { answered: maxDays } = seen
      if (maxDays > 1) sizes.set(other, { maxDays, tooWide, learntAt: 0, probedAt: 0 })
    }
    return knownSize(sizes, resource)
  }

  #of(resource: string): SeenWindows {
    return this.#seen.get(resource) ?? NOTHING_SEEN
  }
}
