import { Background, mapLimit } from '../../lib/concurrency.ts'
import type { Day } from '../../lib/days.ts'
import { messageOf } from '../../lib/errors.ts'
import { grouped } from '../../lib/grouped.ts'
import { bufferPath } from '../../lake/layout.ts'
import { intervalKey, type Interval, type Ledger } from '../../lake/ledger.ts'
import { DAY_TOTALS, type Resource } from '../../lake/resources.ts'
import {
  ApiError,
  contradiction,
  ContradictionError,
  fieldOf,
  servedRow,
  userPages,
  type AnalyticsQuery,
  type ServedRow,
  type UsersPage,
} from '../../client/index.ts'
import {
  dayOfRow,
  platformNow,
  originOf,
  ownAnswer,
  type FetchContext,
  abortsRun,
  isForbidden,
} from '../context.ts'
import type { LandedDay } from '../land/interval-recorder.ts'
import { landedPages, pageInLake, pageSumsOf, type PageSums } from '../land/known-pages.ts'
import { PageBuffer } from '../land/page-buffer.ts'
import { landDays } from '../land/raw-writer.ts'
import type { ServedDay } from '../land/row-lines.ts'
import { WindowFetcher } from './window.ts'

/** One day of users in progress. */
interface Pagination {
  readonly resource: Resource
  readonly day: Day
  readonly buffer: PageBuffer
  /** Users seen so far, except those on pages that equal the landed ones. */
  readonly users: Set<string>
  /**
   * The checksums of the pages that the day last landed with. While they are known, every page so
   * far equals a landed one, is not parsed, and its rows are not in `buffer`. Null if unknown, or
   * once a page differs: then `buffer` has the rows of all pages.
   */
  landedPages: PageSums | null
}

/** A day whose pages are complete. It does not hold its users, who may be many. */
interface CompleteDay extends ServedDay, Pick<Pagination, 'resource' | 'buffer' | 'landedPages'> {
  readonly rowCount: number
}

/** Lands days whose pages are complete, while others are requested. */
export type LandingQueue = Background<CompleteDay>

export function landingQueue(context: FetchContext): LandingQueue {
  return new Background((days) => landCompleteDays(context, days))
}

/**
 * Fetches one day of users, page by page, and queues it to land. An interrupted day resumes after
 * its last page. A day that is not available is recorded as failed; its pages are kept for the
 * next run, unless the pages themselves are wrong.
 */
export async function fetchUsersDay(
  context: FetchContext,
  landing: LandingQueue,
  resource: Resource,
  day: Day,
): Promise<void> {
  const pagination = await openPagination(context, resource, day)
  try {
    await readAllPages(context, pagination)
  } catch (error) {
    const isUseless = error instanceof ContradictionError || isRefusedCursor(pagination, error)
    if (isUseless) pagination.buffer.discard()
    if (abortsRun(error) && !isForbidden(error)) throw error
    context.breaker.failed(resource.name, error)
    return context.recorder.failed(resource.name, [day], error)
  }
  context.breaker.succeeded(resource.name)
  await landing.add(completeDay(pagination))
}

/** Pages further apart than this are not one snapshot of the day. */
const MAX_AGE_MS = 20 * 3_600_000

async function openPagination(
  context: FetchContext,
  resource: Resource,
  day: Day,
): Promise<Pagination> {
  const users = new Set<string>()
  const path = bufferPath(context, resource.name, day, 'pages')
  const buffer = await PageBuffer.open(path, (item) => {
    users.add(userOf(servedRow(item)))
  })
  const pagination: Pagination = { resource, day, buffer, users, landedPages: null }
  const [first] = buffer.headers
  // rows in the buffer came from a page that differs: its later pages are not compared either
  if (first === undefined || buffer.hasKnownPages)
    pagination.landedPages = await landedPages(context, resource.name, day)
  if (first === undefined) return pagination
  const age = platformNow(context) - first.origin.fetchedAt
  const landed = pagination.landedPages?.pages
  const isAsLanded = buffer.sums.every(({ sha256 }, page) => sha256 === landed?.[page]?.sha256)
  if (Math.abs(age) > MAX_AGE_MS || (buffer.hasKnownPages && !isAsLanded)) startAgain(pagination)
  else {
    const what = { ...idOf(context, pagination), pages: buffer.pages }
    context.world.emit({ type: 'pagination.resumed', ...what })
  }
  return pagination
}

/** A cursor may expire between runs: if one is refused, the day starts again, once. */
async function readAllPages(context: FetchContext, pagination: Pagination): Promise<void> {
  try {
    await fillBuffer(context, pagination)
  } catch (error) {
    if (!isRefusedCursor(pagination, error)) throw error
    context.warn(
      `${pagination.resource.name} ${pagination.day} starts again from its first page, because its cursor was refused: ${messageOf(error)}`,
    )
    startAgain(pagination)
    await fillBuffer(context, pagination)
  }
}

function startAgain(pagination: Pagination): void {
  pagination.users.clear()
  pagination.landedPages = null
  pagination.buffer.restart()
}

/**
 * Maximum number of consecutive pages without a new user. Such pages are allowed, but
 * pagination must end.
 */
const MAX_IDLE_PAGES = 50

/** Requests pages until the buffer has the rows of every page of the day. */
async function fillBuffer(context: FetchContext, pagination: Pagination): Promise<void> {
  const { buffer } = pagination
  for (;;) {
    const isRead = buffer.isComplete || (await requestPages(context, pagination))
    // also if the buffer was complete: a run may have been killed between its last page and this
    const isShorter = buffer.pages < (pagination.landedPages?.pages.length ?? 0)
    if (isRead && (!isShorter || (await restoreEqualPages(context, pagination)))) return
    // no landed pages are known any more: the next round parses every page
  }
}

/** Requests the pages that follow those in the buffer. @returns as `restoreEqualPages` does. */
async function requestPages(context: FetchContext, pagination: Pagination): Promise<boolean> {
  const { resource, day, buffer, users } = pagination
  const id = idOf(context, pagination)
  const range = { first: day, last: day }
  const witness = totalsVersion(context.ledger, day) // see `verifyPagesConsistent`
  const requestPage = async (query: AnalyticsQuery): Promise<UsersPage> => {
    const known = pagination.landedPages?.pages[buffer.pages]
    return ownAnswer(context, await context.client.page(resource.endpoint, query, known))
  }
  let idle = 0
  for await (const page of userPages(requestPage, range, buffer.cursors)) {
    if (page.rows !== null) {
      if (!(await restoreEqualPages(context, pagination))) return false
      const before = users.size
      for (const [ordinal, row] of page.rows.entries()) {
        dayOfRow(page, row, ordinal, range) // throws for a row of another day
        users.add(userOf(row))
      }
      idle = users.size > before ? 0 : idle + 1
      if (page.hasMore && idle >= MAX_IDLE_PAGES) {
        const idlePages = `the last ${MAX_IDLE_PAGES} pages brought no new user`
        throw contradiction(page, `'has_more' is true, but ${idlePages}`)
      }
    }
    const origin = originOf(context, page, buffer.pages + 1)
    const nextCursor = page.hasMore ? page.nextCursor : null
    buffer.addPage(page, { origin, nextCursor, witness })
    context.world.emit({ type: 'page.received', ...id, rows: page.sum.rows })
  }
  return true
}

/** The key of a row of `/users`: its user id or, without one, its text: it counts as a separate user. */
function userOf({ text, value }: ServedRow): string {
  const id = fieldOf(value, 'user_id')
  if (typeof id === 'number' || typeof id === 'boolean') return String(id)
  return typeof id === 'string' && id !== '' ? id : text
}

/**
 * Called with each page that is parsed, and when the day has fewer pages: unless the buffer has the
 * rows of all its pages, reads those of the pages that equal the landed ones from the lake.
 *
 * @returns true if the buffer now has the rows of all its pages; false if the lake does not hold
 *   them: then the buffer is empty, and the day starts again.
 */
async function restoreEqualPages(context: FetchContext, pagination: Pagination): Promise<boolean> {
  const { resource, day, buffer } = pagination
  if (pagination.landedPages === null) return true
  const headers = buffer.headers
  startAgain(pagination)
  const { file = null } = context.recorder.interval(resource.name, day) ?? {}
  if (file === null) return headers.length === 0
  for (const header of headers) {
    const rows = await pageInLake(context, resource.name, day, file, header)
    if (rows === null) {
      startAgain(pagination)
      return false
    }
    for (const row of rows) pagination.users.add(userOf(row))
    buffer.addPage({ rows, sum: header.sum }, header)
  }
  return true
}

function idOf({ orgId }: FetchContext, { resource, day }: Pagination) {
  return { orgId, resource: resource.name, day }
}

/** Identifies the landed versions of a day's totals, without comparing times. */
function totalsVersion(ledger: Ledger, day: Day): string {
  return DAY_TOTALS.map(({ name }) => ledger.get(intervalKey(name, day))?.file ?? 'none').join(' ')
}

function completeDay({ resource, day, buffer, landedPages, users }: Pagination): CompleteDay {
  const rowCount = landedPages?.users ?? users.size
  const content = { ...buffer.content }
  if (landedPages !== null) {
    content.digest = landedPages.digest
    content.count = landedPages.pages.reduce((count, { rows }) => count + rows, 0)
  }
  return { resource, day, content, rowCount, buffer, landedPages }
}

/** Lands days whose pages have all come, those of one resource together. */
async function landCompleteDays(context: FetchContext, all: readonly CompleteDay[]): Promise<void> {
  const { recorder } = context
  for (const [resource, paginations] of grouped(all, (each) => each.resource)) {
    const landed = await landDays(context, resource, paginations)
    const intervals: LandedDay[] = []
    for (const { buffer, landedPages, ...each } of landed) {
      const { day, content, file, rowCount: users } = each
      const sums = { digest: content.digest, users, pages: buffer.sums }
      if (landedPages === null)
        await pageSumsOf(context, resource.name).write(context.dataFolder, day, sums)
      const before = recorder.interval(resource.name, day)
      // the same rows may have landed before, and were verified as one snapshot then
      const isVerified = before?.file === file && typeof before.witness !== 'string'
      intervals.push({ ...each, witness: isVerified ? null : buffer.witness })
    }
    if (intervals.length > 0) await recorder.landed(resource.name, intervals)
    // only now: if the run is killed before, `openLedger` takes the witness from the buffer
    for (const { buffer } of paginations) buffer.discard()
  }
}

/** 4xx statuses not caused by the cursor: bad timing, or too large an answer. */
const NOT_ABOUT_THE_CURSOR = new Set([408, 413, 425, 429])

function isRefusedCursor({ buffer }: Pagination, error: unknown): boolean {
  if (!(error instanceof ApiError) || buffer.cursors.length === 0) return false
  return error.status >= 400 && error.status < 500 && !NOT_ABOUT_THE_CURSOR.has(error.status)
}

/** How often a run reads a day whose totals keep changing, including the first time. */
const MAX_ROUNDS = 3

/**
 * Requests again the totals of every day whose users came in several pages, one window per
 * resource; skips days that came back unchanged. A day whose totals changed since its first
 * page is fetched again, until its totals stay the same or MAX_ROUNDS is reached. A day whose
 * totals are not available stays unverified, and the next run checks it again.
 */
export async function verifyPagesConsistent(
  context: FetchContext,
  landing: LandingQueue,
  users: Resource,
): Promise<void> {
  const { recorder, ledger } = context
  let unverified = [...ledger.values()].filter(isUnverified(users))
  for (let round = 1; unverified.length > 0; round += 1) {
    const before = new Map(ledger)
    const days = unverified.map(({ day }) => day).sort()
    const found = (verdict: Verdict): UnverifiedDay[] =>
      unverified.filter((each) => verdictOf(each, before, ledger) === verdict)
    try {
      await mapLimit(DAY_TOTALS, context.concurrency, (total) =>
        new WindowFetcher(context, total).fetch(days),
      )
    } finally {
      await recorder.verified(found('consistent'))
    }
    const moved = found('moved')
    const isLast = round === MAX_ROUNDS
    for (const { day } of moved) warnOfMove(context, day, isLast)
    if (isLast) return recorder.verified(moved)
    await mapLimit(moved, context.concurrency, ({ day }) =>
      fetchUsersDay(context, landing, users, day),
    )
    await landing.ended()
    unverified = moved.flatMap((each) => fetchedAgain(each, users, ledger))
  }
}

/** A landed day whose pages are not yet known to come from one snapshot. */
interface UnverifiedDay extends Interval {
  readonly witness: string
}

function isUnverified({ name }: Resource): (interval: Interval) => interval is UnverifiedDay {
  return (interval): interval is UnverifiedDay =>
    interval.resource === name && typeof interval.witness === 'string'
}

type Verdict = 'consistent' | 'moved' | 'unknown'

/** Compares the ledger before the totals were requested again with the one after. */
function verdictOf({ day, witness }: UnverifiedDay, before: Ledger, after: Ledger): Verdict {
  const areAnswered = DAY_TOTALS.every(({ name }) => {
    const key = intervalKey(name, day)
    const total = after.get(key)
    const isAnswered = total?.error === null && total.attempts !== before.get(key)?.attempts
    return isAnswered && total.suspect === undefined
  })
  if (!areAnswered) return 'unknown'
  return witness === totalsVersion(after, day) ? 'consistent' : 'moved'
}

/** The day as it landed again; empty if that failed, or if the day has a single page now. */
function fetchedAgain(before: UnverifiedDay, users: Resource, known: Ledger): UnverifiedDay[] {
  const now = known.get(intervalKey(users.name, before.day))
  if (now === undefined || now.attempts === before.attempts || now.error !== null) return []
  return [now].filter(isUnverified(users))
}

function warnOfMove({ warn }: FetchContext, day: Day, isLast: boolean): void {
  const then = isLast
    ? `it is kept after ${MAX_ROUNDS} attempts; a later recheck may change it`
    : 'it is read again'
  warn(`the totals of ${day} changed while its users were read: ${then}`)
}
