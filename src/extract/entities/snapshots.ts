import type { Computer } from '../../client/index.ts'
import { originNow, rowsOf, today, type EntityContext } from './context.ts'
import { landDay } from './land-rows.ts'

/** All limits as they are now: the day is the last answer of it. */
export async function fetchLimits(context: EntityContext): Promise<void> {
  const served = await context.client.limits.fetch()
  const rows = rowsOf(context, 'usage_limits', served)
  const origin = originNow(context, served.request, served.requestId)
  await landDay(context, 'usage_limits', today(context), rows, origin)
}

/** All computers as they are now: the day is the last answer of it. */
export async function fetchComputers(context: EntityContext): Promise<readonly Computer[]> {
  const served = await context.client.computers.fetchAll()
  const rows = rowsOf(context, 'computers', served)
  const origin = originNow(context, served.request, served.requestId)
  await landDay(context, 'computers', today(context), rows, origin)
  return served.value.computers
}
