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
  type AnalyticsResponse,
  type AnalyticsQuery,
  type ServedRow,
} from '../../client/index.ts'
import {
  dayOfRow,
  platformNow,
  originOf,
  requireOrganisation,
  type FetchContext,
  abortsRun,
  isForbidden,
} from '../context.ts'
import type { LandedDay } from '../land/interval-recorder.ts'
import { PageBuffer } from '../land/page-buffer.ts'
import { landDays } from '../land/raw-writer.ts'
import type { ServedDay } from '../land/row-lines.ts'
import { WindowFetcher } from './window.ts'

/** One day of users in progress. */
interface Pagination {
  readonly resource: Resource
  readonly day: Day
  readonly buffer: PageBuffer
  /** Users seen so far. */
  readonly users: Set<string>
}

/** A day whose pages are complete. It does not hold its users, who may be many. */
interface CompleteDay extends ServedDay, Pick<Pagination, 'resource' | 'buffer'> {
  readonly rowCount: number
}

/** Lands days whose pages are complete, while others are requested. */
type LandingQueue = Background<CompleteDay>

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
  const pagination: Pagination = { resource, day, buffer, users }
  const [first] = buffer.headers
  if (first === undefined) return pagination
  const age = platformNow(context) - first.origin.fetchedAt
  if (Math.abs(age) > MAX_AGE_MS) startAgain(pagination)
  else {
    const what = { ...idOf(context, pagination), pages: buffer.pages }
    context.world.emit({ type: 'pagination.resumed', ...what })
  }
  return pagination
}

/** A cursor may expire between runs: if one is refused, the day starts again, once. */
async function readAllPages(context: FetchContext, pagination: Pagination): Promise<void> {
  try {
    await requestPages(context, pagination)
  } catch (error) {
    if (!isRefusedCursor(pagination, error)) throw error
    context.warn(
      `${pagination.resource.name} ${pagination.day} starts again from its first page, because its cursor was refused: ${messageOf(error)}`,
    )
    startAgain(pagination)
    await requestPages(context, pagination)
  }
}

function startAgain(pagination: Pagination): void {
  pagination.users.clear()
  pagination.buffer.restart()
}

/**
 * Maximum number of consecutive pages without a new user. Such pages are allowed, but
 * pagination must end.
 */
const MAX_IDLE_PAGES = 50

/** Requests the pages that follow those in the buffer. */
async function requestPages(context: FetchContext, pagination: Pagination): Promise<void> {
  const { resource, day, buffer, users } = pagination
  if (buffer.isComplete) return
  const id = idOf(context, pagination)
  const range = { first: day, last: day }
  const witness = totalsVersion(context.ledger, day) // see `verifyPagesConsistent`
  const requestPage = async (query: AnalyticsQuery): Promise<AnalyticsResponse> =>
    requireOrganisation(context, await context.client.ask(resource.endpoint, query))
  let idle = 0
  for await (const page of userPages(requestPage, range, buffer.cursors)) {
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
    const origin = originOf(context, page, buffer.pages + 1)
    const nextCursor = page.hasMore ? page.nextCursor : null
    buffer.addPage(page.rows, { origin, nextCursor, witness })
    context.world.emit({ type: 'page.received', ...id, rows: page.rows.length })
  }
}

/** The key of a row of `/users`: its user id or, without one, its text: it counts as a separate user. */
function userOf({ text, value }: ServedRow): string {
  const id = fieldOf(value, 'user_id')
  if (typeof id === 'number' || typeof id === 'boolean') return String(id)
  return typeof id === 'string' && id !== '' ? id : text
}

function idOf({ orgId }: FetchContext, { resource, day }: Pagination) {
  return { orgId, resource: resource.name, day }
}

/** Identifies the landed versions of a day's totals, without comparing times. */
function totalsVersion(ledger: Ledger, day: Day): string {
  return DAY_TOTALS.map(({ name }) => ledger.get(intervalKey(name, day))?.file ?? 'none').join(' ')
}

function completeDay({ resource, day, buffer, users }: Pagination): CompleteDay {
  return { resource, day, content: buffer.content, rowCount: users.size, buffer }
}

/** Lands days whose pages have all come, those of one resource together. */
async function landCompleteDays(context: FetchContext, all: readonly CompleteDay[]): Promise<void> {
  const { recorder } = context
  for (const [resource, days] of grouped(all, (each) => each.resource)) {
    const landed = await landDays(context, resource, days)
    const intervals: LandedDay[] = []
    for (const { buffer, ...each } of landed) {
      const before = recorder.interval(resource.name, each.day)
      // the same rows may have landed before, and were verified as one snapshot then
      const isVerified = before?.file === each.file && typeof before.witness !== 'string'
      intervals.push({ ...each, witness: isVerified ? null : buffer.witness })
    }
    if (intervals.length > 0) await recorder.landed(resource.name, intervals)
    // only now: if the run is killed before, `openLedger` takes the witness from the buffer
    for (const { buffer } of days) buffer.discard()
  }
}

/** 4xx statuses not caused by the cursor: bad timing, or too large a response. */
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
