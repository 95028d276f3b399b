import type { Organisation, Period } from './data.ts'

/** Lengths of period that can be chosen, in days, and their names. */
export const RANGES = [
  [28, '4 weeks'],
  [91, '13 weeks'],
  [182, '26 weeks'],
  [364, '52 weeks'],
] as const

/** What the reader has chosen to see. */
export interface View {
  readonly organisation: Organisation
  /** One of `RANGES`. */
  readonly days: number
  /** Null: the whole organisation. */
  readonly team: string | null
}

/** `13 weeks` */
export function rangeName({ days }: View): string {
  return RANGES.find(([length]) => length === days)?.[1] ?? `${days} days`
}

/** The totals of the chosen period, and of the one before it where history goes back that far. */
export function totals({ organisation, days, team }: View): {
  readonly now: Period | undefined
  readonly before: Period | undefined
} {
  const own = organisation.periods.filter((each) => each.days === days && each.team === team)
  return { now: own.find((each) => each.is_current), before: own.find((each) => !each.is_current) }
}

/** The teams with a period of their own, those with most credits first. */
export function teamsOf({ organisation, days }: Pick<View, 'organisation' | 'days'>): Period[] {
  return organisation.periods
    .filter((each) => each.days === days && each.is_current && each.team !== null)
    .sort((a, b) => (b.billable_tokens ?? 0) - (a.billable_tokens ?? 0))
}

/** The rows of the chosen period: those that begin in it. */
export function inRange<Row>(
  { organisation, days }: View,
  rows: readonly Row[],
  dayOf: (row: Row) => string,
): Row[] {
  if (organisation.last_day === null) return []
  const first = new Date(`${organisation.last_day}T00:00:00Z`)
  first.setUTCDate(first.getUTCDate() - days + 1)
  const from = first.toISOString().slice(0, 10)
  return rows.filter((row) => dayOf(row) >= from)
}

/** The rows of the newest week, day or month among them. */
export function newest<Row>(rows: readonly Row[], dayOf: (row: Row) => string): Row[] {
  const last = rows.reduce((latest, row) => (dayOf(row) > latest ? dayOf(row) : latest), '')
  return rows.filter((row) => dayOf(row) === last)
}

export function sum(values: readonly (number | null)[]): number {
  return values.reduce<number>((total, value) => total + (value ?? 0), 0)
}

/** The row with most of something; what is not known is none. */
export function largest<T>(rows: readonly T[], of: (row: T) => number | null): T | undefined {
  return rows.toSorted((a, b) => (of(b) ?? 0) - (of(a) ?? 0))[0]
}
