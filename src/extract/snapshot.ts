import type { Day } from '../core/days.ts'
import { intervalKey, type Interval, type Ledger } from '../store/ledger.ts'
import type { FetchContext } from './context.ts'
import { GUARDS, witnessOf } from './guards.ts'
import type { FetchTask } from './plan.ts'
import type { Resource } from './resources.ts'
import { fetchUsersDay } from './walk.ts'
import { fetchRange } from './window.ts'

/** Times that a day is walked in a run because its guards moved, the first walk included. */
const MAX_WALKS = 3

/** Does the work for every item, some at once; resolves to what must stop the run. */
export type ForAll<Stop> = <T>(
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
) => Promise<Stop | null>

/**
 * Lands the guards of days that are about to be walked, where they have never
 * landed and are not planned: with `--only users`.
 */
export async function landGuards<Stop>(
  context: FetchContext,
  tasks: readonly FetchTask[],
  forAll: ForAll<Stop>,
): Promise<Stop | null> {
  const known = context.book.intervals
  const walked = daysOf(tasks.filter(({ resource }) => resource.grain === 'users')).sort()
  return forAll(GUARDS, (guard) => {
    const planned = new Set(daysOf(tasks.filter(({ resource }) => resource.name === guard.name)))
    const isLanded = (day: Day): boolean => known.get(intervalKey(guard.name, day))?.file != null
    const days = walked.filter((day) => !planned.has(day) && !isLanded(day))
    return fetchRange(context, guard, days)
  })
}

/**
 * Asks for the guards of every walked day of several pages again, in one window
 * each; not of days that came back as they were. A day whose guard moved since its first page is walked again, until
 * nothing moves meanwhile, or it moved too often. A day whose guard cannot be
 * had stays unproven, and the next run asks.
 */
export async function proveWalks<Stop>(
  context: FetchContext,
  users: Resource,
  forAll: ForAll<Stop>,
): Promise<Stop | null> {
  const { book } = context
  let walked = [...book.intervals.values()].filter(isUnproven(users))
  for (let walks = 1; walked.length > 0; walks += 1) {
    const before = new Map(book.intervals)
    const days = walked.map(({ day }) => day).sort()
    const stop = await forAll(GUARDS, (guard) => fetchRange(context, guard, days))
    const found = (verdict: Verdict): Unproven[] =>
      walked.filter((walk) => verdictOn(walk, before, book.intervals) === verdict)
    const moved = found('moved')
    await book.proven(found('proven'))
    if (stop !== null) return stop
    if (walks === MAX_WALKS) return keepAsTheyAre(context, moved)
    for (const { day } of moved) warn(context, day, 'it is read again')
    const stopAgain = await forAll(moved, ({ day }) => fetchUsersDay(context, users, day))
    if (stopAgain !== null) return stopAgain
    walked = moved.flatMap((walk) => walkedAgain(walk, users, book.intervals))
  }
  return null
}

/** A landed day of several pages that are not known to be of one snapshot. */
interface Unproven extends Interval {
  readonly witness: string
}

function isUnproven({ name }: Resource): (interval: Interval) => interval is Unproven {
  return (interval): interval is Unproven =>
    interval.resource === name && typeof interval.witness === 'string'
}

type Verdict = 'proven' | 'moved' | 'unknown'

/** `before` and `after`: what was known when the guards were asked again, and what is now. */
function verdictOn({ day, witness }: Unproven, before: Ledger, after: Ledger): Verdict {
  const isTold = GUARDS.every(({ name }) => {
    const key = intervalKey(name, day)
    const guard = after.get(key)
    const isAnswered = guard?.error === null && guard.attempts !== before.get(key)?.attempts
    return isAnswered && guard.suspect === undefined
  })
  if (!isTold) return 'unknown'
  return witness === witnessOf(after, day) ? 'proven' : 'moved'
}

/** The day as a further walk landed it; nothing when it could not be had, or has one page now. */
function walkedAgain(walk: Unproven, users: Resource, known: Ledger): Unproven[] {
  const now = known.get(intervalKey(users.name, walk.day))
  if (now === undefined || now.attempts === walk.attempts || now.error !== null) return []
  return [now].filter(isUnproven(users))
}

async function keepAsTheyAre(context: FetchContext, moved: readonly Unproven[]): Promise<null> {
  for (const { day } of moved) {
    warn(context, day, `it is kept as it is after ${MAX_WALKS} walks; a later look may change it`)
  }
  await context.book.proven(moved)
  return null
}

function warn({ world }: FetchContext, day: Day, then: string): void {
  const message = `the totals of ${day} moved while its users were read: ${then}`
  world.emit({ type: 'warning', message })
}

function daysOf(tasks: readonly FetchTask[]): Day[] {
  return tasks.flatMap(({ days }) => days.map(({ day }) => day))
}
