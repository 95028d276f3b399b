import { UTCDateMini as UTCDate } from '@date-fns/utc/date/mini'
import { addDays as plusDays } from 'date-fns/addDays'
import { millisecondsInDay } from 'date-fns/constants'
import { eachDayOfInterval } from 'date-fns/eachDayOfInterval'
import { isDay, type Day } from './day.ts'
import { UsageError } from './errors.ts'

export { isDay, type Day }

/** The first day the platform keeps (PLATFORM_API, "Limits": analytics history). */
export const HISTORY_START = '2026-01-14' as Day

/** Both ends included, as the platform's `startDate` and `endDate` are. */
export interface DayRange {
  readonly first: Day
  readonly last: Day
}

export const MS_PER_DAY = millisecondsInDay

/** @throws UsageError when `text` is not a calendar day; `what` names the value, e.g. `--from`. */
export function parseDay(text: string, what: string): Day {
  if (isDay(text)) return text
  throw new UsageError(`${what}: '${text}' is not a date`, {
    hint: 'Write a calendar day as YYYY-MM-DD, for example 2026-01-31.',
  })
}

/** The UTC day that contains the instant `ms` (milliseconds since the epoch). */
export function dayOf(ms: number): Day {
  return new Date(ms).toISOString().slice(0, 10) as Day
}

/** The instant a UTC day begins, in milliseconds since the epoch. */
export function startOf(day: Day): number {
  return Date.parse(`${day}T00:00:00Z`)
}

export function addDays(day: Day, count: number): Day {
  return dayOf(plusDays(new UTCDate(startOf(day)), count).getTime())
}

/** Whole days from `a` to `b`; negative when `b` is earlier. Every UTC day is as long. */
export function daysBetween(a: Day, b: Day): number {
  return (startOf(b) - startOf(a)) / MS_PER_DAY
}

/** Every day of the range, in order; none when `first` is after `last`. */
export function eachDay({ first, last }: DayRange): Day[] {
  if (first > last) return []
  const interval = { start: new UTCDate(startOf(first)), end: new UTCDate(startOf(last)) }
  return eachDayOfInterval(interval).map((date) => dayOf(date.getTime()))
}

/** The earlier of two days; `b` may be missing. */
export function earliest(a: Day, b: Day | undefined): Day {
  return b !== undefined && b < a ? b : a
}

/** The later of two days; `b` may be missing. */
export function latest(a: Day, b: Day | undefined): Day {
  return b !== undefined && b > a ? b : a
}

export function monthOf(day: Day): string {
  return day.slice(0, 7)
}

/** The maximum age of a source's newest row, in seconds; null: no limit. */
export interface FreshnessLimits {
  readonly warnAfterSeconds: number | null
  readonly errorAfterSeconds: number | null
}

export type Freshness = 'pass' | 'warn' | 'error'

export function freshnessOf(ageMs: number, limits: FreshnessLimits): Freshness {
  const isOver = (seconds: number | null): boolean => seconds !== null && ageMs > seconds * 1000
  if (isOver(limits.errorAfterSeconds)) return 'error'
  return isOver(limits.warnAfterSeconds) ? 'warn' : 'pass'
}

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
