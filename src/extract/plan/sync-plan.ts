import {
  addDays,
  daysBetween,
  earliest,
  eachDay,
  HISTORY_START,
  latest,
  type Day,
  type DayRange,
  MS_PER_DAY,
  startOf,
} from '../../lib/days.ts'
import type { PlanReason } from '../../lib/events.ts'
import {
  intervalKey,
  isConfirmationDue,
  isSettled,
  type Interval,
  type Ledger,
  SETTLED_AGE,
} from '../../lake/ledger.ts'
import type { WindowSize, KnownWindowSizes } from '../../lake/state-file.ts'
import { knownSize, countWithin, probeSize, rangeOf, spanOf } from './window-size.ts'
import { DAY_TOTALS, isOfUsers, RESOURCES, type Resource } from '../../lake/resources.ts'

interface PlannedDay {
  readonly day: Day
  readonly reason: PlanReason
  /** For `recheck`: the age, in days, at which the recheck is scheduled. */
  readonly age?: number
  /** Whether the last request for it failed, or it was left out because others failed. */
  readonly hasFailed: boolean
}

/** One window to ask a resource for. `/users` windows are single days. */
export interface FetchTask {
  readonly resource: Resource
  readonly range: DayRange
  /** The days of the window that are due, in order. */
  readonly days: readonly PlannedDay[]
  /** The day to request first if the window is not answered; see `firstFailed`. */
  readonly first?: Day
}

/** Which days of which resources may be requested; absent: all. */
export interface DaySelection {
  readonly resources?: readonly Resource[] | undefined
  /** Only days in this range. */
  readonly within?: Partial<DayRange>
  /** Only these days. */
  readonly days?: ReadonlySet<Day>
  /** Ask for every day of the range, landed or not. */
  readonly refetch?: boolean
}

export interface PlanOptions extends DaySelection {
  /** The first UTC day that is not over. */
  readonly today: Day
  /** Milliseconds since the epoch, by the platform's clock. */
  readonly now: number
  /** What is known of how wide a window may be. */
  readonly windowSizes?: KnownWindowSizes | undefined
}

/**
 * Plans what to request, and why, as a pure value: every missing or failed day up to yesterday,
 * and every landed day whose next recheck is due, in windows no wider than the platform answers.
 * Days of users also need their totals (`DAY_TOTALS`): where these never landed, they are requested
 * even if they are not selected. After the plan has been executed, a plan for the same time is empty
 * (law 2).
 */
export function planSync(ledger: Ledger, options: PlanOptions): FetchTask[] {
  const range = {
    first: latest(HISTORY_START, options.within?.first),
    last: earliest(addDays(options.today, -1), options.within?.last),
  }
  const sizes = options.windowSizes ?? new Map()
  const days = eachDay(range).filter((day) => options.days?.has(day) ?? true)
  const resources = options.resources ?? RESOURCES
  const dueOf = (resource: Resource): PlannedDay[] =>
    days.flatMap((day) => dueDay(ledger, resource, day, options))
  const paginated = new Set(daysOf(resources.filter(({ name }) => isOfUsers(name)).flatMap(dueOf)))
  const neverLanded = (total: Resource): PlannedDay[] =>
    days
      .filter((day) => paginated.has(day))
      .flatMap((day) => dueDay(ledger, total, day, { ...options, refetch: false }))
      .filter(({ reason }) => reason !== 'recheck')
  const totals = DAY_TOTALS.filter((total) => !resources.includes(total))
  return [...totals, ...resources].flatMap((resource) => {
    const due = totals.includes(resource) ? neverLanded(resource) : dueOf(resource)
    const first = firstFailed(due, options.today)
    const windows = isOfUsers(resource.name)
      ? byUrgency(due, first)
      : withinSize(
          failedLast(runs(ledger, resource, due), first),
          knownSize(sizes, resource.name),
          options.now,
        )
    return windows.map((days) => {
      const isWithFirst = first !== undefined && days.includes(first)
      return {
        resource,
        range: rangeOf(daysOf(days)),
        days,
        ...(isWithFirst ? { first: first.day } : {}),
      }
    })
  })
}

/** To bisect so few failed days causes fewer failures than `Breaker` allows: all are requested. */
const FEW = 4

/**
 * The failed day to request first; undefined if there are few. It is another one each night, so that
 * days that keep failing never keep other failed days from being requested.
 */
function firstFailed(due: readonly PlannedDay[], today: Day): PlannedDay | undefined {
  const failed = due.filter(({ hasFailed }) => hasFailed)
  return failed.length > FEW ? failed[placeOf(today, failed.length)] : undefined
}

/** Multiples of it, without their whole part, spread evenly. */
const GOLDEN_RATIO = 0.618033988749895

/** A place in a list, for each night another one; within some nights, it has been all over the list. */
export function placeOf(today: Day, length: number): number {
  const night = startOf(today) / MS_PER_DAY
  return Math.floor(((night * GOLDEN_RATIO) % 1) * length)
}

/**
 * Single days, the newest first; days that failed before come last, so that
 * they never keep the others from being asked for. Of these, `first` comes first, then the older ones.
 */
function byUrgency(due: readonly PlannedDay[], first: PlannedDay | undefined): PlannedDay[][] {
  const newestFirst = due.toReversed()
  const failed = newestFirst.filter(({ hasFailed }) => hasFailed)
  const at = first === undefined ? 0 : failed.indexOf(first)
  const others = newestFirst.filter(({ hasFailed }) => !hasFailed)
  return [...others, ...failed.slice(at), ...failed.slice(0, at)].map((day) => [day])
}

/**
 * The windows divided into those of days that failed before and those of others, which come first;
 * then the one with the day `first`.
 */
function failedLast(
  windows: readonly PlannedDay[][],
  first: PlannedDay | undefined,
): readonly PlannedDay[][] {
  if (first === undefined) return windows
  const parts: PlannedDay[][] = []
  for (const days of windows) {
    for (const [index, day] of days.entries()) {
      const part = parts.at(-1)
      if (index > 0 && part?.at(-1)?.hasFailed === day.hasFailed) part.push(day)
      else parts.push([day])
    }
  }
  const rankOf = (days: readonly PlannedDay[]): number =>
    days.includes(first) ? 1 : days[0]?.hasFailed === true ? 2 : 0
  return parts.toSorted((a, b) => rankOf(a) - rankOf(b))
}

function dueDay(ledger: Ledger, resource: Resource, day: Day, options: PlanOptions): PlannedDay[] {
  const interval = ledger.get(intervalKey(resource.name, day))
  const hasFailed = interval?.status === 'failed' || typeof interval?.error === 'string'
  if (options.refetch === true) return [{ day, reason: 'forced', hasFailed }]
  if (interval === undefined) return [{ day, reason: 'missing', hasFailed }]
  if (interval.status === 'failed') return [{ day, reason: 'failed', hasFailed }]
  const age = recheckOf(resource, interval, options)
  return age === undefined ? [] : [{ day, reason: 'recheck', age, hasFailed }]
}

function recheckOf(
  resource: Resource,
  interval: Interval,
  { today, now }: PlanOptions,
): number | undefined {
  if (interval.suspect === undefined) return dueRecheck(resource, interval, today)
  return isConfirmationDue(interval.suspect, now) ? daysBetween(interval.day, today) : undefined
}

/**
 * The fewest windows that cover the due days without asking for a settled day:
 * two due days share a window when no day between them is settled.
 */
function runs(ledger: Ledger, resource: Resource, due: readonly PlannedDay[]): PlannedDay[][] {
  const isLandedAndSettled = (day: Day): boolean => {
    const interval = ledger.get(intervalKey(resource.name, day))
    return interval !== undefined && isSettled(interval)
  }
  const windows: PlannedDay[][] = []
  for (const planned of due) {
    const window = windows.at(-1) ?? []
    const last = window.at(-1)?.day ?? addDays(planned.day, -1)
    const between = eachDay({ first: addDays(last, 1), last: addDays(planned.day, -1) })
    if (window.length > 0 && !between.some(isLandedAndSettled)) window.push(planned)
    else windows.push([planned])
  }
  return windows
}

/** Splits windows by the learned size. If a probe is due, the widest starts with a wider one. */
function withinSize(
  windows: readonly (readonly PlannedDay[])[],
  size: WindowSize | undefined,
  now: number,
): readonly (readonly PlannedDay[])[] {
  if (size === undefined) return windows
  const span = (days: readonly PlannedDay[]): number => spanOf(rangeOf(daysOf(days)))
  const [widest] = windows.toSorted((a, b) => span(b) - span(a))
  return windows.flatMap((days) =>
    cut(days, size.maxDays, days === widest ? probeSize(size, now) : size.maxDays),
  )
}

/** Windows of at most `width` days, the newest of at most `first`. */
function cut(days: readonly PlannedDay[], width: number, first: number): PlannedDay[][] {
  const windows: PlannedDay[][] = []
  for (let left = days, limit = first; left.length > 0; limit = width) {
    const count = countWithin(daysOf(left), limit)
    windows.push(left.slice(-count))
    left = left.slice(0, -count)
  }
  return windows
}

export function daysOf(days: readonly PlannedDay[]): Day[] {
  return days.map(({ day }) => day)
}

/** Ages, in days, at which a day is rechecked (law 8). Older days are swept. */
const RECHECK_AGES = [1, 2, 3, 7, 14, SETTLED_AGE]

/** Number of nights in which every older day of users is rechecked once. */
const SWEEP_NIGHTS = 28

/**
 * The age, in days, of the latest recheck that is due and has not been done;
 * undefined when there is none. A recheck that was missed stays due until
 * it is done, or until a later one takes its place.
 *
 * @param today the first UTC day that is not over.
 */
function dueRecheck(resource: Resource, interval: Interval, today: Day): number | undefined {
  const { day, fetchedAt, refusedAt = 0 } = interval
  const age = latestRecheck(resource, day, today)
  if (fetchedAt === null || age === undefined) return undefined
  // A run with a wrong clock may have recorded a later time, which says nothing.
  const end = startOf(addDays(today, 2))
  const recheckedAt = Math.max(0, ...[fetchedAt, refusedAt].filter((at) => at < end))
  return recheckedAt < startOf(day) + age * MS_PER_DAY ? age : undefined
}

function latestRecheck(resource: Resource, day: Day, today: Day): number | undefined {
  const age = daysBetween(day, today)
  const swept = isOfUsers(resource.name) ? sweptSingly(age) : sweptByQuarter(resource, day, today)
  return swept ?? RECHECK_AGES.findLast((each) => each <= age)
}

/** Sweeps single days every 28 nights after their last recheck: 1/28 of history per night. */
function sweptSingly(age: number): number | undefined {
  const rounds = Math.floor((age - SETTLED_AGE) / SWEEP_NIGHTS)
  return rounds < 1 ? undefined : SETTLED_AGE + rounds * SWEEP_NIGHTS
}

const DAY_RESOURCES = RESOURCES.filter(({ grain }) => grain === 'days').map(({ name }) => name)
const SLOTS = DAY_RESOURCES.length
const QUARTERS = 4

/**
 * Sweeps windows of days: one resource per night, and one quarter of its history, so that a
 * night has one extra request. Returns the age, in days, that the day had on the last such
 * night of its quarter.
 */
function sweptByQuarter(resource: Resource, day: Day, today: Day): number | undefined {
  const tonight = startOf(today) / MS_PER_DAY
  const position = daysBetween(HISTORY_START, day)
  const last = tonight - ((tonight + SLOTS - DAY_RESOURCES.indexOf(resource.name)) % SLOTS)
  for (let night = last; night > last - QUARTERS * SLOTS; night -= SLOTS) {
    if (isInQuarter(position, night)) return night - FIRST_DAY - position
  }
  return undefined
}

/** Days since 1970-01-01, as nights are counted. */
const FIRST_DAY = startOf(HISTORY_START) / MS_PER_DAY

/** Overlap in days: more than a boundary moves until the next quarter's night. */
const OVERLAP = 8

/** Whether the night's quarter contains the day `position` days after the start of history. */
function isInQuarter(position: number, night: number): boolean {
  const swept = night - FIRST_DAY - SETTLED_AGE
  const quarter = Math.floor(night / SLOTS) % QUARTERS
  const first = Math.floor((quarter * swept) / QUARTERS) - OVERLAP
  return position >= first && position < Math.floor(((quarter + 1) * swept) / QUARTERS)
}
