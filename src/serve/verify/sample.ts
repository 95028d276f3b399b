import type { Day } from '../../lib/days.ts'
import { intervalKey, type Ledger } from '../../lake/ledger.ts'

/**
 * A sample of the days, in order: always the last one, and others at random with equal
 * probability. `random` returns numbers in [0, 1).
 */
export function sampleDays(days: readonly Day[], count: number, random: () => number): Day[] {
  const last = days.at(-1)
  if (last === undefined || count < 1) return []
  const others = days.slice(0, -1)
  const chosen = [last]
  while (chosen.length < count && others.length > 0) {
    chosen.push(...others.splice(Math.floor(random() * others.length), 1))
  }
  return chosen.sort()
}

/** A resource's day that is not compared, and why. */
export interface LeftOut extends Omit<ScopedInterval, 'isLanded'> {
  /** `absent`: the warehouse does not have it; `unanswered`: the platform did not give it. */
  readonly why: 'absent' | 'unanswered'
  /** The platform's refusal; null if there was none. */
  readonly error: string | null
}

/** A resource's day that is compared. */
export interface ScopedInterval {
  readonly orgId: string
  readonly resource: string
  readonly day: Day
  /** False if the warehouse does not have it; then neither side may have rows. */
  readonly isLanded: boolean
}

export interface Scope {
  /** Every resource of every compared day. */
  readonly intervals: readonly ScopedInterval[]
  readonly leftOut: readonly LeftOut[]
}

interface ScopeOptions {
  readonly orgId: string
  readonly days: readonly Day[]
  readonly resources: readonly string[]
  /** The organisation's intervals in the published warehouse, by `intervalKey`. */
  readonly published: ReadonlySet<string>
  /** The intervals that were fetched again. */
  readonly fresh: Ledger
}

/**
 * The days of one organisation that can be compared: those for which the platform
 * answered for every resource in the warehouse, so that every table of a compared day is
 * verified.
 */
export function scopeOf({ days, ...options }: ScopeOptions): Scope {
  const scopes = days.map((day) => dayScope(options, day))
  return {
    intervals: scopes.flatMap(({ intervals }) => intervals),
    leftOut: scopes.flatMap(({ leftOut }) => leftOut),
  }
}

function dayScope(options: Omit<ScopeOptions, 'days'>, day: Day): Scope {
  const { orgId, published, fresh } = options
  const intervals = options.resources.map((resource) => {
    const isLanded = published.has(intervalKey(resource, day))
    return { orgId, resource, day, isLanded }
  })
  const leftOut = intervals.flatMap(({ resource, isLanded }): LeftOut[] => {
    if (!isLanded) return [{ orgId, resource, day, why: 'absent', error: null }]
    const answer = fresh.get(intervalKey(resource, day))
    if (answer?.file != null) return []
    return [{ orgId, resource, day, why: 'unanswered', error: answer?.error ?? null }]
  })
  const isVerified = leftOut.every(({ why }) => why === 'absent')
  const isThere = intervals.some(({ isLanded }) => isLanded)
  return { intervals: isVerified && isThere ? intervals : [], leftOut }
}
