import type { Day } from '../../lib/days.ts'
import { inChunks } from '../../lib/grouped.ts'
import { ApiError } from '../../client/index.ts'
import { countWithin, rangeOf } from '../plan/window-size.ts'
import { ForeignAnswerError, originOf, ownAnswer, type FetchContext } from '../context.ts'
import { abortsRun, isForbidden } from './failures.ts'
import { landDays, type SizedDay } from '../land/land-days.ts'
import type { PageOrigin } from '../../lake/raw-days.ts'
import type { Resource } from '../../lake/resources.ts'
import { bufferPath } from '../land/buffer-paths.ts'
import { takerOf, RowBuffer } from './row-buffer.ts'
import { sizeOf } from '../plan/volume-anomaly.ts'

/**
 * Asks for days in windows of at most `width` days, the newest first. A window
 * that is not answered may be too wide, or hold a day that is not available:
 * smaller ones show which. Days that are not available are recorded as failed.
 *
 * @param width by default the size learned by earlier runs.
 * @param is400Unexplained whether the meaning of a 400 is still unknown.
 */
export async function fetchRange(
  context: FetchContext,
  resource: Resource,
  days: readonly Day[],
  width = context.windowSizes.usual(resource.name),
  is400Unexplained = true,
): Promise<void> {
  let left = days
  while (left.length > 0) {
    const tripped = context.breaker.tripped(resource.name)
    if (tripped !== undefined) return giveUp(context, resource, left, tripped)
    const count = countWithin(left, Math.min(width, context.windowSizes.next(resource.name)))
    await fetchWindow(context, resource, left.slice(-count), is400Unexplained)
    left = left.slice(0, -count)
  }
}

/** @returns the HTTP status if the platform refused the window, else undefined. */
async function fetchWindow(
  context: FetchContext,
  resource: Resource,
  days: readonly Day[],
  is400Unexplained: boolean,
): Promise<number | undefined> {
  try {
    await landWindow(context, resource, days)
    context.breaker.succeeded(resource.name)
    context.windowSizes.answered(resource.name, rangeOf(days))
    return undefined
  } catch (error) {
    if (abortsRun(error) && !isForbidden(error)) throw error
    context.breaker.failed(resource.name, error)
    await bisect(context, resource, days, error, is400Unexplained)
    return error instanceof ApiError ? error.status : undefined
  }
}

/** Lands the days once the answer is complete; until then, a row buffer holds its rows. */
async function landWindow(
  context: FetchContext,
  resource: Resource,
  days: readonly Day[],
): Promise<void> {
  const range = rangeOf(days)
  const query = { range, groupBy: resource.groupBy, isDivisible: days.length > 1 }
  const rows = new RowBuffer(bufferPath(context, resource.name, range.first, 'rows'))
  try {
    const taker = takerOf(days, range, rows)
    const answer = ownAnswer(context, await context.client.stream(resource.endpoint, query, taker))
    await landAnswer(context, resource, days, rows, originOf(context, answer, 1))
  } finally {
    await rows.close()
  }
}

/** Handles a window that was not answered: gives up, or requests smaller windows. */
async function bisect(
  context: FetchContext,
  resource: Resource,
  days: readonly Day[],
  error: unknown,
  is400Unexplained: boolean,
): Promise<void> {
  const status = error instanceof ApiError ? error.status : undefined
  const isIndependentOfWidth =
    status === 404 || isForbidden(error) || error instanceof ForeignAnswerError
  if (days.length === 1 || isIndependentOfWidth) return giveUp(context, resource, days, error)
  context.windowSizes.refused(resource.name, rangeOf(days))
  return context.windowSizes.bisecting(resource.name, () => {
    if (status === 400 && is400Unexplained) return probe(context, resource, days, error)
    const width = context.windowSizes.bisected(resource.name, rangeOf(days))
    return fetchRange(context, resource, days, width, false)
  })
}

/**
 * Finds out what a 400 means by requesting single days. If both ends are served, the window
 * was too wide. If the newest or the oldest days are refused, they are not yet or no longer
 * available; the days between are requested. If none of a few days is served, the request is
 * wrong for every day and is not repeated. Days that fail in another way count as served.
 */
async function probe(
  context: FetchContext,
  resource: Resource,
  days: readonly Day[],
  error: unknown,
): Promise<void> {
  const answers = new Map<number, boolean>()
  const isServed = async (index: number): Promise<boolean> => {
    const known = answers.get(index)
    if (known !== undefined) return known
    const status = await fetchWindow(context, resource, days.slice(index, index + 1), false)
    answers.set(index, status !== 400)
    return status !== 400
  }
  const end = days.length - 1
  const isTooWide = (await isServed(end)) && (await isServed(0))
  const left = (isWanted: (index: number) => boolean): Day[] =>
    days.filter((_, index) => !answers.has(index) && isWanted(index))
  const anchor = await firstOf([end, 0, end - 1, end - 3, end - 7, end >> 1], isServed)
  const newest = anchor === undefined ? -1 : await frontier(isServed, anchor, end)
  const oldest = anchor === undefined ? 0 : await frontier(isServed, anchor, 0)
  const isAvailable = (index: number): boolean => index >= oldest && index <= newest
  const unavailable = left((index) => !isAvailable(index))
  await giveUp(context, resource, unavailable, error)
  const width = isTooWide
    ? context.windowSizes.bisected(resource.name, rangeOf(days))
    : Number.POSITIVE_INFINITY
  await fetchRange(context, resource, left(isAvailable), width, false)
}

type IsServed = (index: number) => Promise<boolean>

/** The first of the indexes that is served. */
async function firstOf(
  indexes: readonly number[],
  isServed: IsServed,
): Promise<number | undefined> {
  for (const index of indexes) if (index >= 0 && (await isServed(index))) return index
  return undefined
}

/**
 * Searches from a served index towards an end for the last served one. Usually only a day or
 * two are refused, so the search starts at the end, in growing steps.
 */
async function frontier(isServed: IsServed, anchor: number, end: number): Promise<number> {
  if (await isServed(end)) return end
  let served = anchor
  let refused = end
  for (let step = 1; Math.abs(refused - served) > 1; step *= 2) {
    const gap = Math.abs(refused - served)
    const away = Math.min(step, Math.floor(gap / 2))
    const index = refused + Math.sign(served - refused) * away
    if (await isServed(index)) served = index
    else refused = index
  }
  return served
}

async function giveUp(
  context: FetchContext,
  resource: Resource,
  days: readonly Day[],
  error: unknown,
): Promise<void> {
  if (days.length === 0) return
  context.windowSizes.failed(resource.name, days)
  await context.recorder.failed(resource.name, days, error)
}

/** Days landed and recorded together: syncing many small files takes little more than one. */
const DAYS_AT_ONCE = 32

async function landAnswer(
  context: FetchContext,
  resource: Resource,
  days: readonly Day[],
  rows: RowBuffer,
  origin: PageOrigin,
): Promise<void> {
  const { sizeField } = resource
  for (const together of inChunks(days, DAYS_AT_ONCE)) {
    const served: SizedDay[] = []
    for (const day of together) {
      const content = rows.contentOf(day, origin)
      const { count } = content
      const size = sizeField === undefined ? count : sizeOf(sizeField, rows.rowsOf(day))
      served.push({ day, content, size })
    }
    const landed = await landDays(context, resource, served)
    if (landed.length > 0) await context.recorder.landed(resource.name, landed)
  }
}
