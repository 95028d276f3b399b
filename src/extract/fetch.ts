import { spanOf } from './caps.ts'
import type { FetchContext } from './context.ts'
import type { FetchTask } from './plan.ts'
import type { Resource } from './resources.ts'
import { landGuards, proveWalks, type ForAll } from './snapshot.ts'
import { fetchUsersDay } from './walk.ts'
import { fetchWithin } from './window.ts'

/**
 * Executes the plan. Totals before users: what a walk is held against is landed
 * before its first page. `users`: the walked resource, where it is selected.
 */
export async function fetchAll<Stop>(
  context: FetchContext,
  tasks: readonly FetchTask[],
  users: Resource | undefined,
  forAll: ForAll<Stop>,
): Promise<Stop | null> {
  const windows = tasks.filter(({ resource }) => resource.grain === 'days')
  const walks = tasks.filter(({ resource }) => resource.grain === 'users')
  const fetch = (task: FetchTask): Promise<void> => fetchTask(context, task)
  return (
    (await forAll(windows, fetch)) ??
    (await landGuards(context, tasks, forAll)) ??
    (await forAll(walks, fetch)) ??
    (users === undefined ? null : await proveWalks(context, users, forAll))
  )
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
