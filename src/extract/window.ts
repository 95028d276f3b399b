import type { Day } from '../core/days.ts'
import { ApiError } from '../client/index.ts'
import type { LandedInterval } from './book.ts'
import { originOf, type FetchContext } from './context.ts'
import { isFatal } from './failures.ts'
import { landDay } from './land-day.ts'
import type { PageOrigin } from './part.ts'
import type { Resource } from './resources.ts'
import { rowsByDay } from './rows.ts'
import { sizeOf } from './shrink.ts'

/**
 * Asks for days in one window. A window that fails may be too wide, or hold one
 * bad day: its halves tell.
 *
 * @returns whether a day landed.
 */
export async function fetchRange(
  context: FetchContext,
  resource: Resource,
  days: readonly Day[],
  isRangeInDoubt = true,
): Promise<boolean> {
  const first = days[0]
  const last = days.at(-1)
  if (first === undefined || last === undefined) return false
  const tripped = context.breaker.tripped(resource.name)
  if (tripped !== undefined) return giveUp(context, resource, days, tripped)
  try {
    const range = { first, last }
    const answer = await context.client.ask(resource.endpoint, {
      range,
      ...(resource.groupBy === undefined ? {} : { groupBy: resource.groupBy }),
    })
    await landDays(context, resource, days, rowsByDay(answer, range), originOf(context, answer, 1))
    context.breaker.succeeded(resource.name)
    return true
  } catch (error) {
    if (isFatal(error)) throw error
    context.breaker.failed(resource.name, error)
    const status = error instanceof ApiError ? error.status : undefined
    if (days.length === 1 || status === 404) return giveUp(context, resource, days, error)
    if (status === 400 && isRangeInDoubt) return probe(context, resource, days, error)
    return halves(context, resource, days)
  }
}

async function halves(
  context: FetchContext,
  resource: Resource,
  days: readonly Day[],
): Promise<boolean> {
  const middle = Math.floor(days.length / 2)
  const newer = await fetchRange(context, resource, days.slice(middle), false)
  const older = await fetchRange(context, resource, days.slice(0, middle), false)
  return newer || older
}

/**
 * What a 400 means is told by asking for single days, not by its text. The
 * newest is answered: the range was too wide. Neither it nor the oldest is: the
 * request is wrong for every day, and is not repeated for every day. Else the
 * newest days are not to be had yet, and the last that is lies between.
 */
async function probe(
  context: FetchContext,
  resource: Resource,
  days: readonly Day[],
  error: unknown,
): Promise<boolean> {
  const probed = new Set<Day | undefined>()
  const isAnswered = (index: number): Promise<boolean> => {
    probed.add(days[index])
    return fetchRange(context, resource, days.slice(index, index + 1))
  }
  const last = days.length - 1
  if (await isAnswered(last)) return halves(context, resource, days.slice(0, last))
  if (!(await isAnswered(0))) return giveUp(context, resource, days.slice(1, last), error)
  let answered = 0
  let refused = last
  while (refused - answered > 1) {
    const middle = Math.floor((answered + refused) / 2)
    if (await isAnswered(middle)) answered = middle
    else refused = middle
  }
  const isLeft = (day: Day): boolean => !probed.has(day)
  await giveUp(context, resource, days.slice(refused).filter(isLeft), error)
  await fetchRange(context, resource, days.slice(0, answered).filter(isLeft), false)
  return true
}

async function giveUp(
  context: FetchContext,
  resource: Resource,
  days: readonly Day[],
  error: unknown,
): Promise<false> {
  await context.book.failed(resource.name, days, error)
  return false
}

/** Days recorded at once: one durable write for many small files. */
const DAYS_PER_RECORD = 32

async function landDays(
  context: FetchContext,
  resource: Resource,
  days: readonly Day[],
  rows: ReadonlyMap<Day, readonly string[]>,
  origin: PageOrigin,
): Promise<void> {
  for (let start = 0; start < days.length; start += DAYS_PER_RECORD) {
    const landed: LandedInterval[] = []
    for (const day of days.slice(start, start + DAYS_PER_RECORD)) {
      const part = await context.writer.begin(resource.name, day)
      const items = rows.get(day) ?? []
      await part.addPage(items, origin)
      const size = sizeOf(resource, items)
      const served = { day, origin, part, rowCount: items.length, size }
      const interval = await landDay(context, resource, served)
      if (interval !== null) landed.push(interval)
    }
    if (landed.length > 0) await context.book.landed(resource.name, landed)
  }
}
