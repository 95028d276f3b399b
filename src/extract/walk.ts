import type { Day } from '../core/days.ts'
import { messageOf } from '../core/errors.ts'
import {
  ApiError,
  ContradictionError,
  userPages,
  type AnalyticsQuery,
  type AnswerOrigin,
  type UsersPage,
} from '../client/index.ts'
import type { Interval } from '../store/ledger.ts'
import type { WalkedDay } from '../store/walked-days.ts'
import type { DayContent } from './day-content.ts'
import { originOf, type FetchContext } from './context.ts'
import { isFatal, isForbidden } from './failures.ts'
import { witnessOf } from './guards.ts'
import { landDay } from './land-day.ts'
import type { Part } from './part.ts'
import type { Resource } from './resources.ts'
import { entityOf, usersOfPage } from './rows.ts'

/** One day of users under way. */
interface Walk {
  readonly resource: Resource
  readonly day: Day
  readonly part: Part
  /** Everyone met so far, but in known pages. */
  readonly users: Set<string>
  /** How the day came before, as long as it comes so again. */
  known: WalkedDay | null
}

/**
 * Lands one day of users, page by page, each durable before the next is asked
 * for. A walk that was cut off goes on where it was. A day that cannot be had
 * is recorded as failed; its pages are kept for the next run, unless it is the
 * pages that are at fault.
 */
export async function fetchUsersDay(
  context: FetchContext,
  resource: Resource,
  day: Day,
): Promise<void> {
  const walk = await openWalk(context, resource, day)
  try {
    await readPages(context, walk)
    await land(context, walk)
    context.breaker.succeeded(resource.name)
  } catch (error) {
    const isUseless = error instanceof ContradictionError || isRefusedCursor(walk, error)
    await (isUseless ? walk.part.discard() : walk.part.keep())
    if (isFatal(error) && !isForbidden(error)) throw error
    context.breaker.failed(resource.name, error)
    await context.book.failed(resource.name, [day], error)
  }
}

/** Pages that are further apart would not be one picture of the day. */
const MAX_AGE_MS = 20 * 3_600_000

async function openWalk(context: FetchContext, resource: Resource, day: Day): Promise<Walk> {
  const users = new Set<string>()
  const part = await context.writer.openPart(resource.name, day, (row) => {
    users.add(entityOf(row))
  })
  const walk: Walk = { resource, day, part, users, known: null }
  if (part.first === undefined) {
    const { digest = null } = context.book.interval(resource.name, day) ?? {}
    walk.known = digest === null ? null : await context.writer.walkedDay(day, digest)
    return walk
  }
  const age = context.world.now() + context.skewMs - part.first.origin.fetchedAt
  if (Math.abs(age) > MAX_AGE_MS) await startAgain(walk)
  else context.book.walkResumed(resource.name, day, part.pages)
  return walk
}

/** Cursors may not outlive a run, or a night: a refused one starts the day again, once. */
async function readPages(context: FetchContext, walk: Walk): Promise<void> {
  try {
    await goOn(context, walk)
  } catch (error) {
    if (!isRefusedCursor(walk, error)) throw error
    const message = `${walk.resource.name} ${walk.day} starts again from its first page, because its cursor was refused: ${messageOf(error)}`
    context.world.emit({ type: 'warning', message })
    await startAgain(walk)
    await goOn(context, walk)
  }
}

async function startAgain(walk: Walk): Promise<void> {
  walk.users.clear()
  walk.known = null
  await walk.part.restart()
}

/**
 * Pages in a row that may bring no user who was not met before. The platform
 * may pass over people in its pages, but a walk must come to an end.
 */
const MAX_IDLE_PAGES = 50

async function goOn(context: FetchContext, walk: Walk): Promise<void> {
  const { resource, day, part, users } = walk
  if (part.isWhole) return
  const witness = witnessOf(context.book.intervals, day)
  const ask = (query: AnalyticsQuery): Promise<UsersPage> =>
    context.client.page(query, walk.known?.pages[part.pages])
  let idle = 0
  for await (const page of userPages(ask, { first: day, last: day }, part.cursors)) {
    if (page.rows !== null) {
      await readKnown(walk)
      const met = users.size
      for (const user of usersOfPage(page, page.rows, day)) users.add(user)
      idle = users.size > met ? 0 : idle + 1
      if (page.hasMore && idle >= MAX_IDLE_PAGES) throw endless(page)
    }
    const origin = originOf(context, page, part.pages + 1)
    const nextCursor = page.hasMore ? page.nextCursor : null
    await part.addPage(page, { origin, nextCursor, witness })
    context.book.pageLanded(resource.name, day, page.sum.rows)
  }
  if (part.pages !== walk.known?.pages.length) await readKnown(walk)
}

/** The day does not come as it did: rows that nobody has read are read from the part. */
async function readKnown(walk: Walk): Promise<void> {
  if (walk.known === null) return
  walk.known = null
  await walk.part.readAgain((row) => {
    walk.users.add(entityOf(row))
  })
}

function endless({ request, requestId }: AnswerOrigin): ContradictionError {
  return new ContradictionError(
    `GET ${request}: 'has_more' is true, but the last ${MAX_IDLE_PAGES} pages brought no new user`,
    requestId,
  )
}

async function land(context: FetchContext, walk: Walk): Promise<void> {
  const { resource, day, part, known } = walk
  const { first } = part
  if (first === undefined) return
  const before = context.book.interval(resource.name, day)
  const size = known?.users ?? walk.users.size
  const content = known === null ? part.content : { ...part.content, ...rowsOf(known) }
  const landed = await landDay(context, resource, { day, content, rowCount: size, size })
  if (known === null && landed !== null) {
    const walked = { digest: content.digest, users: size, pages: part.sums }
    await context.writer.rememberWalk(day, walked)
  }
  await part.discard()
  if (landed === null) return
  const isProven = part.pages === 1 || isProvenAs(landed.result.file, before)
  await context.book.landed(resource.name, [
    { ...landed, witness: isProven ? null : first.witness },
  ])
}

function rowsOf({ digest, pages }: WalkedDay): Pick<DayContent, 'digest' | 'count'> {
  return { digest, count: pages.reduce((count, { rows }) => count + rows, 0) }
}

/** The same rows once more are of the one snapshot that they were. */
function isProvenAs(file: string, before: Interval | undefined): boolean {
  return before?.file === file && typeof before.witness !== 'string'
}

/** 4xx that say nothing of the cursor: the request came at a bad time, or its answer is too large. */
const NOT_ABOUT_THE_CURSOR = new Set([408, 413, 425, 429])

function isRefusedCursor({ part }: Walk, error: unknown): boolean {
  if (!(error instanceof ApiError) || part.cursors.length === 0) return false
  return error.status >= 400 && error.status < 500 && !NOT_ABOUT_THE_CURSOR.has(error.status)
}
