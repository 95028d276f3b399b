import type { Day } from '../../lib/days.ts'
import { inChunks } from '../../lib/grouped.ts'
import { ApiError } from '../../client/index.ts'
import { countWithin, rangeOf } from '../plan/window-size.ts'
import {
  ForeignResponseError,
  originOf,
  requireOrganisation,
  type FetchContext,
  abortsRun,
  isForbidden,
} from '../context.ts'
import { landDays, sizeOf } from '../land/raw-writer.ts'
import type { PageOrigin } from '../../lake/raw-days.ts'
import type { Resource } from '../../lake/resources.ts'
import { bufferPath } from '../../lake/layout.ts'
import { rowHandler, RowBuffer } from './row-buffer.ts'

/** Lands days of one resource whose response covers a range of days. */
export class WindowFetcher {
  readonly #context: FetchContext
  readonly #resource: Resource
  readonly #first: Day | undefined

  /** `first`: the day to request first if its window is not answered. */
  constructor(context: FetchContext, resource: Resource, first?: Day) {
    this.#context = context
    this.#resource = resource
    this.#first = first
  }

  /**
   * Asks for days in windows of at most `width` days, the newest first. A window
   * that is not answered may be too wide, or hold a day that is not available:
   * smaller ones show which. Days that are not available are recorded as failed.
   *
   * @param width by default the size learned by earlier runs.
   * @param is400Unexplained whether the meaning of a 400 is still unknown.
   */
  async fetch(
    days: readonly Day[],
    width = this.#context.windowSizes.usual(this.#resource.name),
    is400Unexplained = true,
  ): Promise<void> {
    const { breaker, windowSizes } = this.#context
    const { name } = this.#resource
    let left = days
    while (left.length > 0) {
      const tripped = breaker.tripped(name)
      if (tripped !== undefined) return this.#giveUp(left, tripped)
      const count = countWithin(left, Math.min(width, windowSizes.next(name)))
      await this.#fetchWindow(left.slice(-count), is400Unexplained)
      left = left.slice(0, -count)
    }
  }

  /** @returns the HTTP status if the platform refused the window, else undefined. */
  async #fetchWindow(days: readonly Day[], is400Unexplained: boolean): Promise<number | undefined> {
    const { breaker, windowSizes } = this.#context
    const { name } = this.#resource
    try {
      await this.#landWindow(days)
      breaker.succeeded(name)
      windowSizes.answered(name, rangeOf(days))
      return undefined
    } catch (error) {
      if (abortsRun(error) && !isForbidden(error)) throw error
      breaker.failed(name, error)
      await this.#bisect(days, error, is400Unexplained)
      return error instanceof ApiError ? error.status : undefined
    }
  }

  /** Lands the days once the response is complete; until then, a row buffer holds its rows. */
  async #landWindow(days: readonly Day[]): Promise<void> {
    const context = this.#context
    const { name, endpoint, groupBy } = this.#resource
    const range = rangeOf(days)
    const query = { range, groupBy, isDivisible: days.length > 1 }
    const rows = new RowBuffer(bufferPath(context, name, range.first, 'rows'))
    try {
      const handler = rowHandler(days, range, rows)
      const response = requireOrganisation(
        context,
        await context.client.stream(endpoint, query, handler),
      )
      await this.#landResponse(days, rows, originOf(context, response))
    } finally {
      await rows.close()
    }
  }

  async #landResponse(days: readonly Day[], rows: RowBuffer, origin: PageOrigin): Promise<void> {
    const { name, sizeField } = this.#resource
    for (const together of inChunks(days, DAYS_AT_ONCE)) {
      const served = together.map((day) => {
        const content = rows.contentOf(day, origin)
        if (sizeField === undefined) return { day, content }
        return { day, content, size: sizeOf(sizeField, rows.rowsOf(day)) }
      })
      const landed = await landDays(this.#context, this.#resource, served)
      if (landed.length > 0) await this.#context.recorder.landed(name, landed)
    }
  }

  /** Handles a window that was not answered: gives up, or requests smaller windows. */
  async #bisect(days: readonly Day[], error: unknown, is400Unexplained: boolean): Promise<void> {
    const { windowSizes } = this.#context
    const { name } = this.#resource
    const status = error instanceof ApiError ? error.status : undefined
    const at = days.findIndex((day) => day === this.#first)
    const isForEveryDay =
      isForbidden(error) || error instanceof ForeignResponseError || (status === 404 && at < 0)
    if (days.length === 1 || isForEveryDay) return this.#giveUp(days, error)
    if (status !== 404) windowSizes.refused(name, rangeOf(days))
    return windowSizes.bisecting(name, async () => {
      if (status === 400 && is400Unexplained) return this.#probe(days, error, at)
      const width = windowSizes.bisected(name, rangeOf(days))
      if (at < 0) return this.fetch(days, width, false)
      const statusOfFirst = await this.#fetchWindow(days.slice(at, at + 1), false)
      const [older, newer] = [days.slice(0, at), days.slice(at + 1)]
      if (status === 404 && statusOfFirst === 404) return this.#giveUp([...older, ...newer], error)
      // the newer days last, because they may fail too often
      for (const part of [older, newer]) await this.fetch(part, width, false)
    })
  }

  /**
   * Finds out what a 400 means by requesting single days. If both ends are served, the window
   * was too wide. If the newest or the oldest days are refused, they are not yet or no longer
   * available; the days between are requested. If none of a few days is served, the request is
   * wrong for every day and is not repeated. Days that fail in another way count as served.
   *
   * @param first the index of one of these few days; -1: the one in the middle.
   */
  async #probe(days: readonly Day[], error: unknown, first: number): Promise<void> {
    const results = new Map<number, boolean>()
    const isServed = async (index: number): Promise<boolean> => {
      const known = results.get(index)
      if (known !== undefined) return known
      const status = await this.#fetchWindow(days.slice(index, index + 1), false)
      results.set(index, status !== 400)
      return status !== 400
    }
    const end = days.length - 1
    const isTooWide = (await isServed(end)) && (await isServed(0))
    const left = (isWanted: (index: number) => boolean): Day[] =>
      days.filter((_, index) => !results.has(index) && isWanted(index))
    const other = first < 0 ? end >> 1 : first
    const anchor = await firstOf([end, 0, end - 1, end - 3, end - 7, other], isServed)
    const newest = anchor === undefined ? -1 : await frontier(isServed, anchor, end)
    const oldest = anchor === undefined ? 0 : await frontier(isServed, anchor, 0)
    const isAvailable = (index: number): boolean => index >= oldest && index <= newest
    const unavailable = left((index) => !isAvailable(index))
    if (unavailable.length > 0) await this.#giveUp(unavailable, error)
    const width = isTooWide
      ? this.#context.windowSizes.bisected(this.#resource.name, rangeOf(days))
      : Number.POSITIVE_INFINITY
    await this.fetch(left(isAvailable), width, false)
  }

  async #giveUp(days: readonly Day[], error: unknown): Promise<void> {
    this.#context.windowSizes.failed(this.#resource.name, days)
    await this.#context.recorder.failed(this.#resource.name, days, error)
  }
}

/** Days landed and recorded together: syncing many small files takes little more than one. */
const DAYS_AT_ONCE = 32

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
