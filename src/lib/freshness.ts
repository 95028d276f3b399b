/** How old the newest row of a source may be, in seconds; null: as old as it likes. */
export interface FreshnessLimits {
  readonly warnAfterSeconds: number | null
  readonly errorAfterSeconds: number | null
}

export type Freshness = 'pass' | 'warn' | 'error'

/** What an age in milliseconds means. */
export function freshnessOf(ageMs: number, limits: FreshnessLimits): Freshness {
  const isOver = (seconds: number | null): boolean => seconds !== null && ageMs > seconds * 1000
  if (isOver(limits.errorAfterSeconds)) return 'error'
  return isOver(limits.warnAfterSeconds) ? 'warn' : 'pass'
}

/** How old the newest row is, and how old it may be, in words. */
export function ageText(ageMs: number, limits: FreshnessLimits): string {
  const limit = limits.warnAfterSeconds ?? limits.errorAfterSeconds ?? 0
  return `its newest row was fetched ${spanOf(ageMs / 1000)} ago, expected within ${spanOf(limit)}`
}

const HOUR = 3600

function spanOf(seconds: number): string {
  const hours = Math.floor(seconds / HOUR)
  if (hours >= 72) return `${String(Math.floor(hours / 24))} days`
  return hours >= 2 ? `${String(hours)} hours` : `${String(Math.floor(seconds / 60))} minutes`
}
