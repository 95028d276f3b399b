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
 * bad day: its halves tell.
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
