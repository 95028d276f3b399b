import { addDays, dayOf, daysBetween, startOf, type Day } from '../lib/days.ts'

/** The first day the API has a history of. */
export const HISTORY_BEGINS = '2026-01-14'

/**
 * The days on which something happens, counted from the first day, so that a
 * history of any age tells the same story.
 */
const OFFSETS = {
  outage: 5,
  hugeNumber: 9,
  newFields: 27,
  modelLaunch: 30,
  emailChange: 33,
  companyHoliday: 37,
  secondOutage: 103,
} as const

type Landmark = keyof typeof OFFSETS

/**
 * - `outage`, `secondOutage`, `companyHoliday`: no rows at all.
 * - `hugeNumber`: `input_tokens` is 9007199254740993, beyond 2^53.
 * - `newFields`: the first day with `cache_write_tokens`, `hooks_by_event` and `delegation_level`.
 * - `modelLaunch`: the first day of a new model.
 * - `emailChange`: the first day of one user's new e-mail address.
 */
export type Landmarks = Readonly<Record<Landmark, Day>>

/** When something happens in an organisation whose history begins on `firstDay`. */
export function landmarksOf(firstDay: Day): Landmarks {
  return {
    outage: addDays(firstDay, OFFSETS.outage),
    hugeNumber: addDays(firstDay, OFFSETS.hugeNumber),
    newFields: addDays(firstDay, OFFSETS.newFields),
    modelLaunch: addDays(firstDay, OFFSETS.modelLaunch),
    emailChange: addDays(firstDay, OFFSETS.emailChange),
    companyHoliday: addDays(firstDay, OFFSETS.companyHoliday),
    secondOutage: addDays(firstDay, OFFSETS.secondOutage),
  }
}

/** A day as the organisation lives it. */
export interface WorkDay {
  readonly day: Day
  /** Days since the first day of the history; negative before it. */
  readonly offset: number
  /** False when no user could work, and the platform has no rows. */
  readonly isOpen: boolean
  /** A weekend or public holiday. */
  readonly isRest: boolean
  /** How busy the day is among working days; about 1. */
  readonly pace: number
  readonly hasNewFields: boolean
  readonly hasHugeNumber: boolean
  /** Days since the launch of the new model; negative before it. */
  readonly sinceLaunch: number
}

const PUBLIC_HOLIDAYS: ReadonlySet<string> = new Set([
  '01-01',
  '02-16',
  '05-01',
  '07-03',
  '09-07',
  '11-26',
  '12-24',
  '12-25',
  '12-26',
  '12-31',
])

const WEEKDAY_PACE: readonly number[] = [1, 0.95, 1, 1, 0.97, 0.85, 1]

/** The days of an organisation whose history begins on `firstDay`. */
export function workDayOf(firstDay: Day, day: Day): WorkDay {
  const offset = daysBetween(firstDay, day)
  const weekday = new Date(startOf(day)).getUTCDay()
  const isWeekend = weekday === 0 || weekday === 6
  return {
    day,
    offset,
    isOpen: offset >= 0 && !isClosed(offset),
    isRest: isWeekend || PUBLIC_HOLIDAYS.has(day.slice(5)),
    pace: (WEEKDAY_PACE[weekday] ?? 1) * seasonOf(day),
    hasNewFields: offset >= OFFSETS.newFields,
    hasHugeNumber: offset === OFFSETS.hugeNumber,
    sinceLaunch: offset - OFFSETS.modelLaunch,
  }
}

/** The offset of the first day of a changed e-mail address. */
export const EMAIL_CHANGE_OFFSET: number = OFFSETS.emailChange

function isClosed(offset: number): boolean {
  return [OFFSETS.outage, OFFSETS.companyHoliday, OFFSETS.secondOutage].some(
    (closed) => closed === offset,
  )
}

function seasonOf(day: Day): number {
  const monthAndDay = day.slice(5)
  if (monthAndDay >= '12-20' || monthAndDay <= '01-02') return 0.5
  return monthAndDay >= '07-15' && monthAndDay <= '08-20' ? 0.8 : 1
}

/** The last day with data at an instant: the UTC day before. */
export function lastDayAt(now: number): Day {
  return addDays(dayOf(now), -1)
}
