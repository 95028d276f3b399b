import type { Organisation, Period, Source } from './data.ts'
import { dayText, amount, change, missingText } from './words.ts'

/** The periods to choose from, in days, and their names. */
export const RANGES = [
  [28, '4 weeks'],
  [91, '13 weeks'],
  [182, '26 weeks'],
  [364, '52 weeks'],
] as const

/** The comparisons to choose from, and their names after "compared with". */
export const COMPARISONS = [
  ['previous', 'the period before'],
  ['year', 'the same weeks a year before'],
  ['none', 'nothing'],
] as const
export type Comparison = (typeof COMPARISONS)[number][0]

/** The choices of the reader. */
export interface View {
  readonly organisation: Organisation
  /** One of `RANGES`. */
  readonly days: number
  /** Null: the whole organisation. */
  readonly team: string | null
  readonly compare: Comparison
}

/** `13 weeks` */
export function rangeName({ days }: View): string {
  return RANGES.find(([length]) => length === days)?.[1] ?? `${days} days`
}

/** `in 13 weeks`; if the history begins later than these, `since 14 Jan 2026`. */
export function inPeriod(view: View): string {
  const span = chosenSpan(view)
  const first = view.organisation.first_day
  return span === null || first === null || isInHistory(view, span)
    ? `in ${rangeName(view)}`
    : `since ${dayText(first)}`
}

/** Days from the first to the last, ISO 8601. */
interface Span {
  readonly first: string
  readonly last: string
}

/** The days of the chosen period; null if there are no days. */
function chosenSpan({ organisation: { last_day: last }, days }: View): Span | null {
  return last === null ? null : { first: daysAfter(last, 1 - days), last }
}

/** 52 weeks, so that equal weekdays are compared. */
const YEAR = 364

/** Days from the compared period to the chosen one; null without a comparison. */
export function comparedDays({ compare, days }: View): number | null {
  if (compare === 'none') return null
  return compare === 'year' ? YEAR : days
}

/** The days of the compared period; null without a comparison. */
function comparedSpan(view: View): Span | null {
  const span = chosenSpan(view)
  const back = comparedDays(view)
  if (span === null || back === null) return null
  return { first: daysAfter(span.first, -back), last: daysAfter(span.last, -back) }
}

/** How many days of the chosen and of the compared period a figure lacks. The figures of a team come from users. */
export function missingDays(view: View, sources: readonly Source[]) {
  const own = view.team === null ? sources : ['users']
  const missing = view.organisation.unknown_days.filter(({ source }) => own.includes(source))
  const days = [...new Set(missing.map(({ day }) => day))]
  const of = (span: Span | null): number =>
    span === null ? 0 : days.filter((day) => day >= span.first && day <= span.last).length
  return { now: of(chosenSpan(view)), before: of(comparedSpan(view)) }
}

/** Whether the history covers the whole span. */
function isInHistory({ organisation: { first_day: first } }: View, span: Span): boolean {
  return first !== null && first <= span.first
}

/** The totals of the chosen period, and of the compared period if the history covers it. */
export function totals({ organisation, days, team, compare }: View) {
  const own = organisation.periods.filter((each) => each.days === days && each.team === team)
  const of = (name: string): Period | undefined => own.find(({ period }) => period === name)
  return { now: of('current'), before: of(compare) }
}

export const ABOUT_TEAMS =
  'Teams in which fewer than five people were ever active are combined as “(small teams)”; if these are fewer than five people, the next larger team joins them. Teams after the 30 with the most people are combined as “(… other teams)”.'

/**
 * Teams with their own totals: those with the most credits first, and the sum of the others last.
 */
export function teamsOf({ organisation, days }: Pick<View, 'organisation' | 'days'>): Period[] {
  return organisation.periods
    .filter((each) => each.days === days && each.period === 'current' && each.team !== null)
    .sort((a, b) => (b.billable_tokens ?? 0) - (a.billable_tokens ?? 0))
    .sort((a, b) => Number(areOthers(a.team ?? '')) - Number(areOthers(b.team ?? '')))
}

/** Whether a name stands for the sum of the smaller teams. */
export function areOthers(team: string): boolean {
  return /^\(\d+ other teams\)$/.test(team)
}

/** Rows of the period. */
export function inRange<Row>(view: View, rows: readonly Row[], dayOf: (row: Row) => string): Row[] {
  const span = chosenSpan(view)
  return span === null
    ? []
    : rows.filter((row) => dayOf(row) >= span.first && dayOf(row) <= span.last)
}

/** Rows of the period or later, such as a report of today, a day whose use is not known yet. */
export function inRangeOrLater<Row>(
  view: View,
  rows: readonly Row[],
  dayOf: (row: Row) => string,
): Row[] {
  const span = chosenSpan(view)
  return span === null ? [] : rows.filter((row) => dayOf(row) >= span.first)
}

/** The same, or all rows if there are none. */
export function inRangeOrAll<Row>(
  view: View,
  rows: readonly Row[],
  dayOf: (row: Row) => string,
): readonly Row[] {
  const own = inRangeOrLater(view, rows, dayOf)
  return own.length > 0 ? own : rows
}

/** `2026-11-01` moved by a number of days, which may be negative. */
export function daysAfter(day: string, days: number): string {
  const date = new Date(`${day}T00:00:00Z`)
  date.setUTCDate(date.getUTCDate() + days)
  return date.toISOString().slice(0, 10)
}

/** `the last whole week`; of an earlier one `the week of 9 Mar 2026`. */
export function weekText({ organisation: { last_day: last } }: View, week: string): string {
  const isLast = last !== null && daysAfter(week, 6) <= last && daysAfter(week, 13) > last
  return isLast ? 'the last whole week' : `the week of ${dayText(week)}`
}

/** The rows of the newest week, day or month. */
export function newest<Row>(rows: readonly Row[], dayOf: (row: Row) => string): Row[] {
  const last = rows.reduce((latest, row) => (dayOf(row) > latest ? dayOf(row) : latest), '')
  return rows.filter((row) => dayOf(row) === last)
}

export function sum(values: readonly (number | null)[]): number {
  return values.reduce<number>((total, value) => total + (value ?? 0), 0)
}

/** Null where a number is not known, or there is nothing to divide by. */
export function ratio(above: number | null, below: number | null): number | null {
  return above === null || below === null || below === 0 ? null : above / below
}

/** A part as a share of its whole; null where it cannot be one, because numbers contradict each other. */
export function shareOf(part: number, whole: number): number | null {
  const share = part / whole
  // sums of doubles depend on their order
  return share >= 0 && share < 1 + 1e-9 ? share : null
}

/** The row with the highest value; unknown values do not count. */
export function largest<T>(rows: readonly T[], of: (row: T) => number | null): T | undefined {
  return rows.toSorted((a, b) => (of(b) ?? 0) - (of(a) ?? 0))[0]
}

/** `the period before`, if the reader compares with it and the history covers it completely. */
export function comparedName(view: View): string | null {
  const span = comparedSpan(view)
  return span !== null && isInHistory(view, span) ? nameOf(view) : null
}

/** The compared period of the headlines and its days, or why nothing is compared. */
export function comparedText(view: View): string {
  const span = comparedSpan(view)
  if (span === null) return ''
  const name = nameOf(view)
  if (isInHistory(view, span))
    return `, compared with ${name}: ${dayText(span.first)} to ${dayText(span.last)}`
  const begin = dayText(view.organisation.first_day ?? span.last)
  return `. There is nothing to compare with: the history begins on ${begin}, and ${name} on ${dayText(span.first)}`
}

/**
 * `up 12% from 268`: a figure of these sources against the compared period, and what is missing.
 * Null if nothing is compared and no day is missing.
 */
export function changeText(
  view: View,
  sources: readonly Source[],
  now: number | null,
  before: number | null | undefined,
): string | null {
  const span = comparedSpan(view)
  const days = missingDays(view, sources)
  const missingNow = missingText(days.now)
  if (span === null) return missingNow
  if (!isInHistory(view, span))
    return missingNow === null ? 'no earlier data' : `no earlier data; ${missingNow}`
  const missing = missingInEither(days)
  if (missing !== null) return `not compared: ${missing}`
  if (totals(view).before === undefined)
    return view.team === null ? 'no activity before' : 'too few people before'
  if (before === null || before === undefined) return 'not known before'
  const changed = change(now, before)
  if (changed === null) return `${amount(before)} before`
  return changed === 'unchanged' ? changed : `${changed} from ${amount(before)}`
}

function nameOf({ compare }: View): string {
  return COMPARISONS.find(([name]) => name === compare)?.[1] ?? ''
}

/** `3 days are missing, and 1 before`; null if none is. */
function missingInEither({ now, before }: ReturnType<typeof missingDays>): string | null {
  if (before === 0) return missingText(now)
  return now === 0
    ? `${missingText(before)} before`
    : `${missingText(now)}, and ${amount(before)} before`
}
