import { monthOf } from '../../lib/days.ts'
import { spanOf } from '../plan/window-size.ts'
import type { FetchContext } from '../context.ts'
import type { FetchTask } from '../plan/plan.ts'
import { DAY_TOTALS, isOfUsers, type Resource } from '../../lake/resources.ts'
import { landDayTotals, verifyPagesConsistent } from './consistency.ts'
import { fetchUsersDay } from './pagination.ts'
import { fetchWithin } from './window.ts'

/**
 * Executes the plan. Users of a day are requested after the totals that they are compared with
 * have landed; everything else is requested immediately. `resources`: the selected ones.
 * Calls `done` with each finished task.
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
  const landing: Promise<void>[] = []
  const fetch = async (task: FetchTask): Promise<void> => {
    // Totals come first in order: all of them are in progress when users are requested.
    const outcomes = isOfUsers(task.resource.name) ? await Promise.allSettled(landing) : []
    if (outcomes.some(({ status }) => status === 'rejected')) return
    const fetching = fetchTask(context, task, done)
    if (totals.includes(task)) landing.push(fetching)
    await fetching
  }
  try {
    await landDayTotals(context, tasks)
    await context.forEach(inOrder, fetch)
  } finally {
    await context.background.ended()
  }
  for (const resource of resources)
    if (resource.grain === 'users') await verifyPagesConsistent(context, resource)
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

/** The months in which the task requests any day for another reason than a recheck. */
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
  task: FetchTask,
  done: (task: FetchTask) => void,
): Promise<void> {
  const { resource } = task
  const days = task.days.map(({ day }) => day)
  const tripped = context.breaker.tripped(resource.name)
  const end = (): void => {
    done(task)
  }
  if (resource.grain === 'users' && tripped === undefined) {
    for (const day of days) await fetchUsersDay(context, resource, day, end) // one: see planSync
    return
  }
  if (tripped === undefined) await fetchWithin(context, resource, days, spanOf(task.range))
  else await context.recorder.failed(resource.name, days, tripped)
  end()
}
