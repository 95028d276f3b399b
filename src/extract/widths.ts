import type { Day, DayRange } from '../core/days.ts'
import type { WindowCaps } from '../store/windows.ts'
import { learnt, narrowerThan, nextWidth, NOTHING_SEEN, spanOf, type SeenWindows } from './caps.ts'

/** Remembers, for one run, which windows of each resource were answered, so that the next ones fit. */
export class Widths {
  readonly #known: WindowCaps
  readonly #seen = new Map<string, SeenWindows>()

  /** `known`: what was learnt before the run. */
  constructor(known: WindowCaps) {
    this.#known = known
  }

  /** Days that a window of the resource may span by what was learnt before the run. */
  usual(resource: string): number {
    return this.#known.get(resource)?.maxDays ?? Number.POSITIVE_INFINITY
  }

  /** Days that the next window of the resource may span. */
  next(resource: string): number {
    return nextWidth(this.#known.get(resource), this.#of(resource))
  }

  /** Days that a part of the refused window may span. */
  narrower(resource: string, range: DayRange): number {
    return narrowerThan(range, this.#known.get(resource), this.#of(resource))
  }

  answered(resource: string, range: DayRange): void {
    const seen = this.#of(resource)
    this.#seen.set(resource, { ...seen, answered: Math.max(seen.answered, spanOf(range)) })
  }

  refused(resource: string, range: DayRange): void {
    const seen = this.#of(resource)
    this.#seen.set(resource, { ...seen, refused: [...seen.refused, range] })
  }

  failed(resource: string, days: readonly Day[]): void {
    const seen = this.#of(resource)
    this.#seen.set(resource, { ...seen, failed: new Set([...seen.failed, ...days]) })
  }

  /** What is known after the run. */
  learnt(now: number): WindowCaps {
    const caps = new Map(this.#known)
    for (const [resource, seen] of this.#seen) {
      const cap = learnt(caps.get(resource), seen, now)
      if (cap !== undefined) caps.set(resource, cap)
    }
    return caps
  }

  #of(resource: string): SeenWindows {
    return this.#seen.get(resource) ?? NOTHING_SEEN
  }
}
