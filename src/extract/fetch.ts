import { spanOf } from './caps.ts'
import type { FetchContext } from './context.ts'
import { GUARDS } from './guards.ts'
import type { FetchTask } from './plan.ts'
import type { Resource } from './resources.ts'
import { landGuards, proveWalks, type ForAll } from './snapshot.ts'
import { fetchUsersDay } from './walk.ts'
import { fetchWithin } from './window.ts'

/**
 * Executes the plan. What a walk is held against is landed before its first page;
 * the other totals are fetched beside the walks, for one answer may be long in
 * coming. `users`: the walked resource, where it is selected. `done` is told of
 * each task that has come to its end.
 */
export async function fetchAll<Stop>(
  context: FetchContext,
  tasks: readonly FetchTask[],
  users: Resource | undefined,
  forAll: ForAll<Stop>,
  done: (task: FetchTask) => void,
): Promise<Stop | null> {
  const isGuard = ({ resource }: FetchTask): boolean => GUARDS.includes(resource)
  const fetch = async (task: FetchTask): Promise<void> => {
    await fetchTask(context, task)
    done(task)
  }
  return (
    (await forAll(tasks.filter(isGuard), fetch)) ??
    (await landGuards(context, tasks, forAll)) ??
    (await forAll(
      tasks.filter((task) => !isGuard(task)),
      fetch,
    )) ??
    (users === undefined ? null : await proveWalks(context, users, forAll))
  )
}

/** What is to be told of every task that is done: tells when all that a resource lacked has come. */
export function newsTeller(
  tasks: readonly FetchTask[],
  tell: (resource: string) => void,
): (task: FetchTask) => void {
  const left = new Set(tasks.filter(isOfNews))
  return (task) => {
    if (!left.delete(task)) return
    if (![...left].some(({ resource }) => resource === task.resource)) tell(task.resource.name)
  }
}

/** Whether a day is asked for because it is not in the lake. */
function isOfNews({ days }: FetchTask): boolean {
  return days.some(({ reason }) => reason !== 'look')
}

/**
 * Executes one task of the plan. Days that cannot be had are recorded as
 * failed; only what must stop the run is thrown (see `isFatal`).
 */
async function fetchTask(context: FetchContext, task: FetchTask): Promise<void> {
  const days = task.days.map(({ day }) => day)
  const tripped = context.breaker.tripped(task.resource.name)
  if (tripped !== undefined) await context.book.failed(task.resource.name, days, tripped)
  else if (task.resource.grain === 'days') {
    await fetchWithin(context, task.resource, days, spanOf(task.range))
  } else for (const day of days) await fetchUsersDay(context, task.resource, day)
}
