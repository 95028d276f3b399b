import type { Day } from '../core/days.ts'
import type { World } from '../core/world.ts'
import { ApiError, userPages, type AnalyticsAnswer, type PlatformClient } from '../client/index.ts'
import type { IntervalBook } from './book.ts'
import { isFatal, type Breaker } from './failures.ts'
import type { RawWriter } from './land.ts'
import type { PageOrigin } from './part.ts'
import type { FetchTask } from './plan.ts'
import type { Resource } from './resources.ts'
import { rowsByDay, usersOfPage } from './rows.ts'

export interface FetchContext {
  readonly client: PlatformClient
  readonly writer: RawWriter
  readonly book: IntervalBook
  readonly breaker: Breaker
  readonly world: World
  readonly runId: string
  /** The platform's clock less this machine's, milliseconds. */
  readonly skewMs: number
}

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

/**
 * Asks for days in one window. A window that fails may be too wide, or hold one
 * bad day: its halves tell. A 400 is tried on a single day before halving, so
 * that a request that is wrong for every day is not repeated for every day.
 *
 * @returns whether a day landed.
 */
async function fetchRange(
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
    const isProbe = status === 400 && isRangeInDoubt
    const middle = isProbe ? days.length - 1 : Math.floor(days.length / 2)
    const newer = await fetchRange(
      context,
      resource,
      days.slice(middle),
      isRangeInDoubt && !isProbe,
    )
    if (isProbe && !newer) return giveUp(context, resource, days.slice(0, middle), error)
    const older = await fetchRange(context, resource, days.slice(0, middle), false)
    return newer || older
  }
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
    const landed = []
    for (const day of days.slice(start, start + DAYS_PER_RECORD)) {
      const part = await context.writer.begin(resource.name, day)
      await part.addPage(rows.get(day) ?? [], origin)
      const result = await context.writer.land(resource.name, day, part)
      landed.push({ day, origin, result, rowCount: result.rows })
    }
    await context.book.landed(resource.name, landed)
  }
}

async function fetchUsersDay(context: FetchContext, resource: Resource, day: Day): Promise<void> {
  const part = await context.writer.begin(resource.name, day)
  try {
    const users = new Set<string>()
    let page = 0
    let origin: PageOrigin | undefined
    for await (const answer of userPages(context.client, { first: day, last: day })) {
      page += 1
      origin = originOf(context, answer, page)
      for (const user of usersOfPage(answer, day)) users.add(user)
      await part.addPage(
        answer.rows.map((row) => row.text),
        origin,
      )
      context.book.pageLanded(resource.name, day, answer.rows.length)
    }
    if (origin === undefined) return
    const result = await context.writer.land(resource.name, day, part)
    await context.book.landed(resource.name, [{ day, origin, result, rowCount: users.size }])
    context.breaker.succeeded(resource.name)
  } catch (error) {
    await part.discard()
    if (isFatal(error)) throw error
    context.breaker.failed(resource.name, error)
    await context.book.failed(resource.name, [day], error)
  }
}

function originOf(context: FetchContext, answer: AnalyticsAnswer, page: number): PageOrigin {
  return {
    page,
    fetchedAt: context.world.now() + context.skewMs,
    request: answer.request,
    requestId: answer.requestId,
    runId: context.runId,
  }
}
