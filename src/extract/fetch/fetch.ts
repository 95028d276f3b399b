import { monthOf, type Day } from '../../lib/days.ts'
import { spanOf } from '../plan/window-size.ts'
import type { FetchContext } from '../context.ts'
import type { FetchTask } from '../plan/sync-plan.ts'
import { DAY_TOTALS, isOfUsers, type Resource } from '../../lake/resources.ts'
import { Background } from './concurrency.ts'
import { fetchUsersDay, landPaginations, totalsVersion, type Pagination } from './pagination.ts'
import { fetchRange } from './window.ts'
import { intervalKey, type Interval, type Ledger } from '../../lake/ledger.ts'

/** Maximum users in memory of days that wait to land. A day counts as its users plus 1/32 of this. */
const MOST_WAITING = 16_384

/**
 * Executes the plan. Users of a day are requested after its totals have landed, so that a change of
 * the totals in between is noticed; everything else is requested immediately. Days whose pages are
 * complete land while others are requested. `resources`: the selected ones. Calls `done` with each
 * finished task.
 *
 * @throws errors that abort the run, after the work in progress has landed.
 */
export async function fetchAll(
  context: FetchContext,
  tasks: readonly FetchTask[],
  resources: readonly Resource[],
  done: (task: FetchTask) => void,
): Promise<void> {
  const totals = tasks.filter(({ resource }) => DAY_TOTALS.includes(resource))
  const others = tasks.filter((task) => !totals.includes(task))
  const inOrder = [
    ...totals,
    ...others.toSorted(
      (a, b) => Number(isOfUsers(a.resource.name)) - Number(isOfUsers(b.resource.name)),
    ),
  ]
  const landing = new Background<Pagination>({
    work: (days) => landPaginations(context, days),
    atOnce: 2,
    sizeOf: ({ users }) => MOST_WAITING / 32 + users.size,
    mostWaiting: MOST_WAITING,
  })
  const landingTotals: Promise<void>[] = []
  const fetch = async (task: FetchTask): Promise<void> => {
    // Totals come first in order: all of them are in progress when users are requested.
    const outcomes = isOfUsers(task.resource.name) ? await Promise.allSettled(landingTotals) : []
    if (outcomes.some(({ status }) => status === 'rejected')) return
    const fetching = fetchTask(context, landing, task, done)
    if (totals.includes(task)) landingTotals.push(fetching)
    await fetching
  }
  try {
    await landDayTotals(context, tasks)
    await context.forEach(inOrder, fetch)
    await landing.ended()
    for (const resource of resources)
      if (isOfUsers(resource.name)) await verifyPagesConsistent(context, landing, resource)
  } finally {
    await landing.ended()
  }
}

/** Returns a `done` callback that reports a month once all its missing days are done. */
export function completionListener(
  tasks: readonly FetchTask[],
  report: (month: string) => void,
): (task: FetchTask) => void {
  const left = new Map<string, number>()
  for (const month of tasks.flatMap(missingMonths)) left.set(month, (left.get(month) ?? 0) + 1)
  return (task) => {
    for (const month of missingMonths(task)) {
      const others = (left.get(month) ?? 0) - 1
      left.set(month, others)
      if (others === 0) report(month)
    }
  }
}

/** The months with days that the task requests for another reason than a recheck. */
function missingMonths({ days }: FetchTask): string[] {
  const missing = days.filter(({ reason }) => reason !== 'recheck')
  return [...new Set(missing.map(({ day }) => monthOf(day)))]
}

/**
 * Executes one task of the plan, and calls `done` with it. Days that are not available
 * are recorded as failed; only errors that abort the run are thrown (see `abortsRun`).
 */
async function fetchTask(
  context: FetchContext,
  landing: Background<Pagination>,
  task: FetchTask,
  done: (task: FetchTask) => void,
): Promise<void> {
  const { resource } = task
  const days = task.days.map(({ day }) => day)
  const tripped = context.breaker.tripped(resource.name)
  const end = (): void => {
    done(task)
  }
  if (isOfUsers(resource.name) && tripped === undefined) {
    for (const day of days) await fetchAndLand(context, landing, resource, day, end) // one: see planSync
    return
  }
  if (tripped === undefined) await fetchRange(context, resource, days, spanOf(task.range))
  else await context.recorder.failed(resource.name, days, tripped)
  end()
}

/** Fetches a day of users, and queues it to land. */
async function fetchAndLand(
  context: FetchContext,
  landing: Background<Pagination>,
  users: Resource,
  day: Day,
  onDone?: () => void,
): Promise<void> {
  const pagination = await fetchUsersDay(context, users, day, onDone)
  if (pagination !== null) await landing.add(pagination)
}

/** How often a run reads a day whose totals keep changing, including the first time. */
const MAX_ROUNDS = 3

/**
 * Lands the totals of days whose users are about to be fetched, if these totals never landed
 * and are not planned, as with `--only users`.
 */
async function landDayTotals(context: FetchContext, tasks: readonly FetchTask[]): Promise<void> {
  const known = context.recorder.intervals
  const ofUsers = tasks.filter(({ resource }) => isOfUsers(resource.name))
  const usersDays = [...new Set(daysOf(ofUsers))].sort()
  await context.forEach(DAY_TOTALS, (total) => {
    const planned = new Set(daysOf(tasks.filter(({ resource }) => resource.name === total.name)))
    const isLanded = (day: Day): boolean => known.get(intervalKey(total.name, day))?.file != null
    const days = usersDays.filter((day) => !planned.has(day) && !isLanded(day))
    return fetchRange(context, total, days)
  })
}

/**
 * Requests again the totals of every day whose users came in several pages, one window per
 * resource; skips days that came back unchanged. A day whose totals changed since its first
 * page is fetched again, until its totals stay the same or MAX_ROUNDS is reached. A day whose
 * totals are not available stays unverified, and the next run checks it again.
 */
async function verifyPagesConsistent(
  context: FetchContext,
  landing: Background<Pagination>,
  users: Resource,
): Promise<void> {
  const { recorder } = context
  let unverified = [...recorder.intervals.values()].filter(isUnverified(users))
  for (let round = 1; unverified.length > 0; round += 1) {
    const before = new Map(recorder.intervals)
    const days = unverified.map(({ day }) => day).sort()
    const found = (verdict: Verdict): UnverifiedDay[] =>
      unverified.filter((each) => verdictOf(each, before, recorder.intervals) === verdict)
    try {
      await context.forEach(DAY_TOTALS, (total) => fetchRange(context, total, days))
    } finally {
      await recorder.verified(found('consistent'))
    }
    const moved = found('moved')
    const isLast = round === MAX_ROUNDS
    for (const { day } of moved) warnOfMove(context, day, isLast)
    if (isLast) return recorder.verified(moved)
    await context.forEach(moved, ({ day }) => fetchAndLand(context, landing, users, day))
    await landing.ended()
    unverified = moved.flatMap((each) => fetchedAgain(each, users, recorder.intervals))
  }
}

/** A landed day whose pages are not yet known to come from one snapshot. */
interface UnverifiedDay extends Interval {
  readonly witness: string
}

function isUnverified({ name }: Resource): (interval: Interval) => interval is UnverifiedDay {
  return (interval): interval is UnverifiedDay =>
    interval.resource === name && typeof interval.witness === 'string'
}

type Verdict = 'consistent' | 'moved' | 'unknown'

/** Compares the ledger before the totals were requested again with the one after. */
function verdictOf({ day, witness }: UnverifiedDay, before: Ledger, after: Ledger): Verdict {
  const areAnswered = DAY_TOTALS.every(({ name }) => {
    const key = intervalKey(name, day)
    const total = after.get(key)
    const isAnswered = total?.error === null && total.attempts !== before.get(key)?.attempts
    return isAnswered && total.suspect === undefined
  })
  if (!areAnswered) return 'unknown'
  return witness === totalsVersion(after, day) ? 'consistent' : 'moved'
}

/** The day as it landed again; empty if that failed, or if the day has a single page now. */
function fetchedAgain(before: UnverifiedDay, users: Resource, known: Ledger): UnverifiedDay[] {
  const now = known.get(intervalKey(users.name, before.day))
  if (now === undefined || now.attempts === before.attempts || now.error !== null) return []
  return [now].filter(isUnverified(users))
}

function warnOfMove({ world }: FetchContext, day: Day, isLast: boolean): void {
  const then = isLast
    ? `it is kept after ${MAX_ROUNDS} attempts; a later recheck may change it`
    : 'it is read again'
  const message = `the totals of ${day} changed while its users were read: ${then}`
  world.emit({ type: 'warning', message })
}

function daysOf(tasks: readonly FetchTask[]): Day[] {
  return tasks.flatMap(({ days }) => days.map(({ day }) => day))
}
