import type { Day } from '../../lib/days.ts'
import { messageOf } from '../../lib/errors.ts'
import {
  ApiError,
  ContradictionError,
  servedRow,
  userPages,
  type AnalyticsQuery,
  type AnswerOrigin,
  type UsersPage,
} from '../../client/index.ts'
import { intervalKey, type Interval, type Ledger } from '../../lake/ledger.ts'
import { writePageSums, type PageSums } from '../../lake/page-sums.ts'
import { bufferPath } from '../land/buffer-paths.ts'
import { PageBuffer } from '../land/page-buffer.ts'
import type { DayContent } from '../land/row-lines.ts'
import { nowThere, originOf, ownAnswer, type FetchContext } from '../context.ts'
import { abortsRun, isForbidden } from './failures.ts'
import type { LandedInterval } from '../land/interval-recorder.ts'
import { landDays } from '../land/land-days.ts'
import { DAY_TOTALS, type Resource } from '../../lake/resources.ts'
import { entityOf, usersOfPage } from './rows.ts'

/** One day of users in progress. */
export interface Pagination {
  readonly resource: Resource
  readonly day: Day
  readonly buffer: PageBuffer
  /** Users seen so far, except those on pages that equal the landed ones. */
  readonly users: Set<string>
  /**
   * The checksums of the pages that the day last landed with; null if unknown, or once a page
   * differs. Rows of an equal page are not parsed.
   */
  landedPages: PageSums | null
  /** To be called when the day has landed or failed. */
  readonly onDone: () => void
}

/**
 * Fetches one day of users, page by page. An interrupted day resumes after its last page. A day
 * that is not available is recorded as failed, and null is returned; its pages are kept for the
 * next run, unless the pages themselves are wrong.
 *
 * @returns all pages, for `landPaginations`, which calls `onDone`.
 */
export async function fetchUsersDay(
  context: FetchContext,
  resource: Resource,
  day: Day,
  onDone: () => void = () => undefined,
): Promise<Pagination | null> {
  const pagination = await openPagination(context, resource, day, onDone)
  try {
    await readPages(context, pagination)
  } catch (error) {
    const isUseless = error instanceof ContradictionError || isRefusedCursor(pagination, error)
    if (isUseless) pagination.buffer.discard()
    if (abortsRun(error) && !isForbidden(error)) throw error
    context.breaker.failed(resource.name, error)
    await context.recorder.failed(resource.name, [day], error)
    onDone()
    return null
  }
  context.breaker.succeeded(resource.name)
  return pagination
}

/** Pages further apart than this are not one snapshot of the day. */
const MAX_AGE_MS = 20 * 3_600_000

async function openPagination(
  context: FetchContext,
  resource: Resource,
  day: Day,
  onDone: () => void,
): Promise<Pagination> {
  const users = new Set<string>()
  const path = bufferPath(context, resource.name, day, 'pages')
  const buffer = await PageBuffer.open(path, (item) => {
    users.add(entityOf(servedRow(item)))
  })
  const pagination: Pagination = { resource, day, buffer, users, landedPages: null, onDone }
  const [first] = buffer.headers
  if (first === undefined || buffer.arePagesKnown)
    pagination.landedPages = await context.writer.landedPages(resource.name, day)
  if (first === undefined) return pagination
  const age = nowThere(context) - first.origin.fetchedAt
  const isLost = buffer.arePagesKnown && !isAsLanded(pagination)
  if (Math.abs(age) > MAX_AGE_MS || isLost) startAgain(pagination)
  else
    context.world.emit({
      type: 'pagination.resumed',
      ...idOf(context, pagination),
      pages: buffer.pages,
    })
  return pagination
}

/** Whether all pages so far equal the pages that the day last landed with. */
function isAsLanded({ buffer, landedPages }: Pagination): boolean {
  return buffer.sums.every(({ sha256 }, page) => sha256 === landedPages?.pages[page]?.sha256)
}

/** A cursor may expire between runs: if one is refused, the day starts again, once. */
async function readPages(context: FetchContext, pagination: Pagination): Promise<void> {
  try {
    await requestPages(context, pagination)
  } catch (error) {
    if (!isRefusedCursor(pagination, error)) throw error
    const message = `${pagination.resource.name} ${pagination.day} starts again from its first page, because its cursor was refused: ${messageOf(error)}`
    context.world.emit({ type: 'warning', message })
    startAgain(pagination)
    await requestPages(context, pagination)
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

async function requestPages(context: FetchContext, pagination: Pagination): Promise<void> {
  const { resource, day, buffer, users } = pagination
  if (buffer.isComplete) return
  const id = idOf(context, pagination)
  const witness = totalsVersion(context.recorder.intervals, day)
  const ask = async (query: AnalyticsQuery): Promise<UsersPage> =>
    ownAnswer(
      context,
      await context.client.page(
        resource.endpoint,
        query,
        pagination.landedPages?.pages[buffer.pages],
      ),
    )
  let idle = 0
  for await (const page of userPages(ask, { first: day, last: day }, buffer.cursors)) {
    if (page.rows !== null) {
      if (!(await readLandedPages(context, pagination))) return requestPages(context, pagination)
      const before = users.size
      for (const user of usersOfPage(page, page.rows, day)) users.add(user)
      idle = users.size > before ? 0 : idle + 1
      if (page.hasMore && idle >= MAX_IDLE_PAGES) throw endless(page)
    }
    const origin = originOf(context, page, buffer.pages + 1)
    const nextCursor = page.hasMore ? page.nextCursor : null
    buffer.addPage(page, { origin, nextCursor, witness })
    context.world.emit({ type: 'page.received', ...id, rows: page.sum.rows })
  }
  const isAsBefore = buffer.pages === pagination.landedPages?.pages.length
  if (!isAsBefore && !(await readLandedPages(context, pagination)))
    return requestPages(context, pagination)
}

/**
 * Called when a page differs from the landed day: reads the rows of earlier pages from the lake.
 *
 * @returns false if the lake does not hold these pages; then the day starts again.
 */
async function readLandedPages(context: FetchContext, pagination: Pagination): Promise<boolean> {
  const { resource, day, buffer } = pagination
  if (pagination.landedPages === null) return true
  const headers = buffer.headers
  startAgain(pagination)
  const { file = null } = context.recorder.interval(resource.name, day) ?? {}
  if (file === null) return headers.length === 0
  for (const header of headers) {
    const rows = await context.writer.pageInLake(resource.name, day, file, header)
    if (rows === null) {
      startAgain(pagination)
      return false
    }
    for (const row of rows) pagination.users.add(entityOf(row))
    buffer.addPage({ rows, sum: header.sum }, header)
  }
  return true
}

function idOf({ orgId }: FetchContext, { resource, day }: Pagination) {
  return { orgId, resource: resource.name, day }
}

/** Identifies the landed versions of a day's totals, without comparing times. */
export function totalsVersion(ledger: Ledger, day: Day): string {
  return DAY_TOTALS.map(({ name }) => ledger.get(intervalKey(name, day))?.file ?? 'none').join(' ')
}

function endless({ request, requestId }: AnswerOrigin): ContradictionError {
  return new ContradictionError(
    `GET ${request}: 'has_more' is true, but the last ${MAX_IDLE_PAGES} pages brought no new user`,
    requestId,
  )
}

/** Lands days whose pages have all come, those of one resource together. */
export async function landPaginations(
  context: FetchContext,
  all: readonly Pagination[],
): Promise<void> {
  const { recorder } = context
  const [first] = all
  if (first === undefined) return
  const { resource } = first
  const paginations = all.filter((each) => each.resource === resource)
  const served = paginations.map((pagination) => {
    const { day, buffer, landedPages, users } = pagination
    const content =
      landedPages === null ? buffer.content : { ...buffer.content, ...rowsOf(landedPages) }
    const rowCount = landedPages?.users ?? users.size
    return { day, content, rowCount, size: rowCount, buffer, landedPages }
  })
  const landed = await landDays(context, resource, served)
  const intervals: LandedInterval[] = []
  for (const { buffer, landedPages, ...each } of landed) {
    const { day, content, file, rowCount: users } = each
    const sums = { digest: content.digest, users, pages: buffer.sums }
    if (landedPages === null) await writePageSums(context, resource.name, day, sums)
    const before = recorder.interval(resource.name, day)
    const isVerified = buffer.pages === 1 || isVerifiedAs(file, before)
    intervals.push({ ...each, witness: isVerified ? null : (buffer.headers[0]?.witness ?? null) })
  }
  for (const { buffer } of paginations) buffer.discard()
  if (intervals.length > 0) await recorder.landed(resource.name, intervals)
  for (const { onDone } of paginations) onDone()
  const others = all.filter((each) => each.resource !== resource)
  await landPaginations(context, others)
}

function rowsOf({ digest, pages }: PageSums): Pick<DayContent, 'digest' | 'count'> {
  return { digest, count: pages.reduce((count, { rows }) => count + rows, 0) }
}

/** Whether the same rows landed before and were verified as one snapshot. */
function isVerifiedAs(file: string, before: Interval | undefined): boolean {
  return before?.file === file && typeof before.witness !== 'string'
}

/** 4xx statuses not caused by the cursor: bad timing, or too large an answer. */
const NOT_ABOUT_THE_CURSOR = new Set([408, 413, 425, 429])

function isRefusedCursor({ buffer }: Pagination, error: unknown): boolean {
  if (!(error instanceof ApiError) || buffer.cursors.length === 0) return false
  return error.status >= 400 && error.status < 500 && !NOT_ABOUT_THE_CURSOR.has(error.status)
}
