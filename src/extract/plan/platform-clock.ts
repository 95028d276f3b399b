import { dayOf, HISTORY_START, startOf, type Day } from '../../lib/days.ts'
import { UsageError } from '../../lib/errors.ts'

/** The platform's clock, as used by a run. */
export interface PlatformClock {
  /** The platform's clock minus this machine's, in milliseconds. */
  readonly skewMs: number
  /** The current UTC day at the platform. */
  readonly today: Day
}

/** The current day is unknown: the clock of this machine or of the platform is wrong. */
export class ClockError extends UsageError {}

/** `Date` has whole seconds and arrives late: a smaller difference is ignored. */
const PRECISION_MS = 2_000

/** A clock set to local time is up to 14 hours off; one more than a day ahead is wrong. */
const FARTHEST_AHEAD_MS = 25 * 3_600_000

/**
 * The platform's clock decides which days are over, within bounds: it may not be
 * before the history begins, nor more than a day before what it was in an earlier
 * run, nor more than 25 hours ahead of this machine's. A platform that is behind is
 * accepted within these bounds: days not requested today are requested later, but days that
 * are not over must never land. Without a `Date`, this machine's clock is used, within the
 * same bounds.
 *
 * @param served the platform's `Date`; null if it sent none, NaN if it is not a date.
 * @param lastDay the last day that was over in an earlier run.
 * @throws ClockError for a clock beyond them.
 */
export function platformClock(
  served: number | null,
  now: number,
  lastDay: Day | undefined,
): PlatformClock {
  const there = served ?? now
  const said = saidOf(served)
  const refuse = (why: string): ClockError =>
    new ClockError(`this machine's clock says ${timeOf(now)}, ${said}: ${why}`, {
      hint: 'Nothing was requested. Synchronise this machine’s clock. If it is correct, the platform or a proxy sends a wrong Date header.',
    })
  if (Number.isNaN(there)) throw refuse('it is unknown which days are over there')
  const [first, before] =
    lastDay !== undefined && lastDay > HISTORY_START
      ? [lastDay, 'the day before that of an earlier run (state/organisations.json)']
      : [HISTORY_START, 'the first day of the history']
  if (there < startOf(first)) throw refuse(`that is before ${first}, ${before}`)
  if (there - now > FARTHEST_AHEAD_MS) throw refuse('the platform is more than a day ahead')
  const skewMs = Math.abs(there - now) < PRECISION_MS ? 0 : there - now
  return { skewMs, today: dayOf(there) }
}

function saidOf(served: number | null): string {
  if (served === null) return 'the platform sent no Date'
  if (Number.isNaN(served)) return 'the platform sends a Date that is not a valid date'
  return `the platform says ${timeOf(served)}`
}

function timeOf(ms: number): string {
  const time = new Date(ms)
  return Number.isNaN(time.getTime()) ? 'no time' : time.toISOString().slice(0, 19) + 'Z'
}
