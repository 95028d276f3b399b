import { MS_PER_DAY, daysBetween, HISTORY_START, startOf, type Day } from '../../lib/days.ts'
import { SETTLED_AGE, type Interval } from '../../lake/ledger.ts'
import { RESOURCES, type Resource } from '../../lake/resources.ts'

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
export function dueRecheck(resource: Resource, interval: Interval, today: Day): number | undefined {
  const { day, fetchedAt, refusedAt = 0 } = interval
  const age = latestRecheck(resource, day, today)
  if (fetchedAt === null || age === undefined) return undefined
  const recheckedAt = Math.max(fetchedAt, refusedAt)
  return recheckedAt < startOf(day) + age * MS_PER_DAY ? age : undefined
}

function latestRecheck(resource: Resource, day: Day, today: Day): number | undefined {
  const age = daysBetween(day, today)
  const swept = resource.grain === 'users' ? sweptSingly(age) : sweptByQuarter(resource, day, today)
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
