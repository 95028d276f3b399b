import { MS_PER_DAY, daysBetween, type Day, type DayRange } from '../../lib/days.ts'
import type { WindowSize, KnownWindowSizes } from '../../lake/state-file.ts'

/** What a run has seen of one resource's windows. */
export interface SeenWindows {
  /** Days that the widest answered window spans; 0 before the first. */
  readonly answered: number
  /** Windows of more than one day that were not answered. */
  readonly refused: readonly DayRange[]
  /** Days that were not available. */
  readonly failed: ReadonlySet<Day>
}

const NOTHING_SEEN: SeenWindows = { answered: 0, refused: [], failed: new Set() }

/** Days from the first to the last, both counted. */
export function spanOf({ first, last }: DayRange): number {
  return daysBetween(first, last) + 1
}

/** @throws RangeError for no days. `days` are in order. */
export function rangeOf(days: readonly Day[]): DayRange {
  const [first] = days
  const last = days.at(-1)
  if (first === undefined || last === undefined) throw new RangeError('a window without days')
  return { first, last }
}

/** How many of the newest days fit into `width` days; at least one. `days` are in order. */
export function countWithin(days: readonly Day[], width: number): number {
  const last = days.at(-1)
  if (last === undefined) return 0
  const first = days.findIndex((day) => spanOf({ first: day, last }) <= width)
  return days.length - (first < 0 ? days.length - 1 : first)
}

/**
 * The narrowest window that was refused for its width; undefined when none was.
 * A refusal does not count if a failed day explains it, or if a window at least as wide was
 * answered.
 */
export function smallestRefused({ answered, refused, failed }: SeenWindows): number | undefined {
  const spans = refused
    .filter((range) => ![...failed].some((day) => day >= range.first && day <= range.last))
    .map(spanOf)
    .filter((span) => span > answered)
  return spans.length === 0 ? undefined : Math.min(...spans)
}

/** The size for a resource; if unknown, the smallest of the others as a first guess. */
export function knownSize(sizes: KnownWindowSizes, resource: string): WindowSize | undefined {
  return sizes.get(resource) ?? [...sizes.values()].sort((a, b) => a.maxDays - b.maxDays)[0]
}

/**
 * Days that the next window may span: after a refusal, the known size if it is smaller, else
 * halfway between the widest answered and the narrowest refused.
 */
export function nextSize(known: WindowSize | undefined, seen: SeenWindows): number {
  const refused = smallestRefused(seen)
  if (refused === undefined) return Number.POSITIVE_INFINITY
  if (known !== undefined && known.maxDays < refused) return known.maxDays
  return middle(seen.answered, refused)
}

/** Days that each part of an unanswered window may span. */
export function bisectedSize(
  range: DayRange,
  known: WindowSize | undefined,
  seen: SeenWindows,
): number {
  const span = spanOf(range)
  const width = nextSize(known, seen)
  return width < span ? width : middle(0, span)
}

const PROBE_AFTER_MS = 7 * MS_PER_DAY

/**
 * Days that one window of a run may span: above the known size if no probe was refused lately. A run
 * with a wrong clock may have recorded a time to come, which says nothing.
 */
export function probeSize(
  { maxDays, tooWide: refused, probedAt }: WindowSize,
  now: number,
): number {
  if (Math.abs(now - probedAt) < PROBE_AFTER_MS) return maxDays
  const isBetween = refused !== null && refused > maxDays + 1
  return isBetween ? middle(maxDays, refused) : 2 * maxDays
}

/** The size after a run, given the one before it; undefined while none is known. */
export function learnedSize(
  known: WindowSize | undefined,
  seen: SeenWindows,
  now: number,
): WindowSize | undefined {
  const refused = smallestRefused(seen)
  if (refused === undefined) return known && widened(known, seen.answered, now)
  if (known !== undefined && refused > known.maxDays) {
    const { maxDays, tooWide: before, learntAt } = widened(known, seen.answered, now)
    return { maxDays, tooWide: Math.min(before ?? refused, refused), learntAt, probedAt: now }
  }
  const maxDays = Math.max(1, seen.answered)
  return { maxDays, tooWide: refused, learntAt: now, probedAt: now }
}

/** After a window as wide as `answered` was answered. */
function widened(known: WindowSize, answered: number, now: number): WindowSize {
  if (answered <= known.maxDays) return known
  const isBound = known.tooWide !== null && known.tooWide > answered
  const tooWide = isBound ? known.tooWide : null
  return { maxDays: answered, tooWide, learntAt: now, probedAt: known.probedAt }
}

function middle(a: number, b: number): number {
  return Math.max(1, Math.floor((a + b) / 2))
}

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
