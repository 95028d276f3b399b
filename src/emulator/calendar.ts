import { addDays, dayOf, daysBetween, startOf, type Day } from '../lib/days.ts'

/**
 * The days of special events, counted from the first day, so that every history has
 * the same ones.
 *
 * - `outage`, `secondOutage`, `companyHoliday`: no rows at all.
 * - `hugeNumber`: `input_tokens` is 9007199254740993, beyond 2^53.
 * - `newFields`: the first day with `cache_write_tokens`, `hooks_by_event` and `delegation_level`.
 * - `modelLaunch`: the first day of a new model.
 * - `emailChange`: the first day of one user's new e-mail address.
 */
export const OFFSETS = {
  outage: 5,
  hugeNumber: 9,
  newFields: 27,
  modelLaunch: 30,
  emailChange: 33,
  companyHoliday: 37,
  secondOutage: 103,
} as const

const CLOSED: readonly number[] = [OFFSETS.outage, OFFSETS.companyHoliday, OFFSETS.secondOutage]

export function landmarkOf(firstDay: Day, landmark: keyof typeof OFFSETS): Day {
  return addDays(firstDay, OFFSETS[landmark])
}

// prettier-ignore
const PUBLIC_HOLIDAYS: ReadonlySet<string> = new Set([
  '01-01', '02-16', '05-01', '07-03', '09-07', '11-26', '12-24', '12-25', '12-26', '12-31',
])

const WEEKDAY_PACE: readonly number[] = [1, 0.95, 1, 1, 0.97, 0.85, 1]

export type WorkDay = Readonly<ReturnType<typeof workDayOf>>

export function workDayOf(firstDay: Day, day: Day) {
  const offset = daysBetween(firstDay, day)
  const weekday = new Date(startOf(day)).getUTCDay()
  const isWeekend = weekday === 0 || weekday === 6
  return {
    day,
    /** Days since the first day of the history; negative before it. */
    offset,
    /** False when no user could work, and the platform has no rows. */
    isOpen: offset >= 0 && !CLOSED.includes(offset),
    isRest: isWeekend || PUBLIC_HOLIDAYS.has(day.slice(5)),
    /** How busy the day is among working days; about 1. */
    pace: (WEEKDAY_PACE[weekday] ?? 1) * seasonOf(day),
    hasNewFields: offset >= OFFSETS.newFields,
    hasHugeNumber: offset === OFFSETS.hugeNumber,
    /** Days since the launch of the new model; negative before it. */
    sinceLaunch: offset - OFFSETS.modelLaunch,
  }
}

function seasonOf(day: Day): number {
  const monthAndDay = day.slice(5)
  if (monthAndDay >= '12-20' || monthAndDay <= '01-02') return 0.5
  return monthAndDay >= '07-15' && monthAndDay <= '08-20' ? 0.8 : 1
}

/** The last day with data: the UTC day before `now`. */
export function lastDayAt(now: number): Day {
  return addDays(dayOf(now), -1)
}
