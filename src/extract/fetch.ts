import type { FetchContext } from './context.ts'
import type { FetchTask } from './plan.ts'
import { fetchUsersDay } from './walk.ts'
import { fetchRange } from './window.ts'

/**
 * Executes one task of the plan. Days that cannot be had are recorded as
 * failed; only what must stop the run is thrown (see `isFatal`).
 */
export async function fetchTask(context: FetchContext, task: FetchTask): Promise<void> {
  const days = task.days.map(({ day }) => day)
  const tripped = context.breaker.tripped(task.resource.name)
  if (tripped !== undefined) await context.book.failed(task.resource.name, days, tripped)
  else if (task.resource.grain === 'days') await fetchRange(context, task.resource, days)
  else for (const day of days) await fetchUsersDay(context, task.resource, day)
}
