import type { Day } from '../../lib/days.ts'
import { spanOf } from '../plan/window-size.ts'
import type { FetchContext } from './context.ts'
import { DAY_TOTALS } from './day-totals.ts'
import type { FetchTask } from '../plan/plan.ts'
import type { Resource } from '../resources.ts'
import { landDayTotals, verifyPagesConsistent, type ForAll } from './consistency.ts'
import { fetchUsersDay } from './pagination.ts'
import { fetchWithin } from './window.ts'

/**
 * Executes the plan. The users of a day are asked for when the totals have landed that
 * they are held against; everything else at once. `users`: their resource, where it is
 * selected. `done` is called with each task that has come to its end.
 */
export async function fetchAll<Stop>(
  context: FetchContext,
  tasks: readonly FetchTask[],
  users: Resource | undefined,
  forAll: ForAll<Stop>,
  done: (task: FetchTask) => void,
): Promise<Stop | null> {
  const totals = tasks.filter(({ resource }) => DAY_TOTALS.includes(resource))
  const others = tasks.filter((task) => !totals.includes(task))
  const inOrder = [
    ...totals,
    ...others.toSorted((a, b) => Number(isOfUsers(a)) - Number(isOfUsers(b))),
  ]
  const landing: Promise<boolean>[] = []
  const fetch = async (task: FetchTask): Promise<void> => {
    // Totals come first in order: all of them are in progress when users are requested.
    if (isOfUsers(task) && (await Promise.all(landing)).includes(false)) return
    const fetching = fetchTask(context, task, done)
    if (totals.includes(task)) {
      landing.push(
        fetching.then(
          () => true,
          () => false,
        ),
      )
    }
    await fetching
  }
  const stop = (await landDayTotals(context, tasks, forAll)) ?? (await forAll(inOrder, fetch))
  await context.background.ended()
  return stop ?? (users === undefined ? null : await verifyPagesConsistent(context, users, forAll))
}

function isOfUsers({ resource }: FetchTask): boolean {
  return resource.grain === 'users'
}

/** To be called with every task that is done: reports a resource when all its missing days have come. */
export function completionListener(
  tasks: readonly FetchTask[],
  report: (resource: string) => void,
): (task: FetchTask) => void {
  const left = new Set(tasks.filter(isForMissingDays))
  return (task) => {
    if (!left.delete(task)) return
    if (![...left].some(({ resource }) => resource === task.resource)) report(task.resource.name)
  }
}

/** Whether a day is asked for because it is not in the lake. */
function isForMissingDays({ days }: FetchTask): boolean {
  return days.some(({ reason }) => reason !== 'look')
}

/**
 * Executes one task of the plan, and calls `done` with it. Days that are not available
 * are recorded as failed; only what must stop the run is thrown (see `isFatal`).
 */
async function fetchTask(
  context: FetchContext,
  task: FetchTask,
  done: (task: FetchTask) => void,
): Promise<void> {
  const { resource } = task
  const days = task.days.map(({ day }) => day)
  const tripped = context.breaker.tripped(resource.name)
  if (tripped === undefined && resource.grain === 'users') {
    const left = new Set(days)
    const landed = (day: Day) => (): void => {
      if (left.delete(day) && left.size === 0) done(task)
    }
    for (const day of days) await fetchUsersDay(context, resource, day, landed(day))
    return
  }
  if (tripped === undefined) await fetchWithin(context, resource, days, spanOf(task.range))
  else await context.recorder.failed(resource.name, days, tripped)
  done(task)
}
