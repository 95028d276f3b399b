import type { Day } from '../../lib/days.ts'
import { intervalKey, type Ledger } from '../../lake/ledger.ts'

/**
 * Some of the days, in order: the last one always, the others by chance, every
 * choice as likely as any other. `random` gives numbers in [0, 1).
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

/** A resource's day that takes part in no comparison, and why. */
export interface LeftOut {
  readonly orgId: string
  readonly resource: string
  readonly day: Day
  /** `absent`: the warehouse does not have it; `unanswered`: the platform did not give it. */
  readonly why: 'absent' | 'unanswered'
  /** What the platform's refusal said; null where there was none. */
  readonly error: string | null
}

/** A resource's day of which the warehouse is compared with the platform. */
export interface ScopedInterval {
  readonly orgId: string
  readonly resource: string
  readonly day: Day
  /** False where the warehouse does not have it: then neither side may. */
  readonly isLanded: boolean
}

export interface Scope {
  /** Every resource of every compared day. */
  readonly intervals: readonly ScopedInterval[]
  readonly leftOut: readonly LeftOut[]
}

export interface ScopeOptions {
  readonly orgId: string
  /** The sampled days. */
  readonly days: readonly Day[]
  readonly resources: readonly string[]
  /** What the published warehouse has of the organisation, by `intervalKey`. */
  readonly published: ReadonlySet<string>
  /** What was fetched again. */
  readonly fresh: Ledger
}

/**
 * What can be compared of one organisation. A day is compared when the platform
 * answered for every resource that the warehouse has of it, so that no table of
 * a compared day is not verified.
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
