import type { DayRange } from '../lib/days.ts'
import {
  activityRow,
  activityRowsByClient,
  productivityRow,
  toolRow,
  toolRowsByName,
} from './day-rows.ts'
import { totalsOf, type DayTotals } from './day-totals.ts'
import { object, quote, quoteAscii, type Field } from './json.ts'
import { createLru, type Lru } from './lru.ts'
import { openDays, trailingCounts, type Organisation } from './organisation.ts'
import { isGrouped, limitOf, placeAfterCursor, rangeOf } from './queries.ts'
import { tokenRow, tokenRowsByModel } from './token-rows.ts'
import { userPage } from './user-rows.ts'

/** The rows (JSON texts) of one day; a long one in pieces. */
type RowsOfDay = (totals: DayTotals) => readonly (string | Iterable<string>)[]

/** Readies what a whole request needs once, e.g. the trailing counts. */
type Rows = (organisation: Organisation, range: DayRange) => RowsOfDay

interface DayResource {
  /** The value of `group_by` that the resource knows. */
  readonly dimension: string | null
  readonly whole: Rows
  readonly grouped: Rows
}

const TOKENS: DayResource = {
  dimension: 'model',
  whole: (organisation) => (totals) => [tokenRow(organisation, totals)],
  grouped: (organisation) => (totals) => tokenRowsByModel(organisation, totals),
}

const TOOLS: DayResource = {
  dimension: 'tool_name',
  whole: () => (totals) => [toolRow(totals)],
  grouped: () => toolRowsByName,
}

const ACTIVITY: DayResource = {
  dimension: 'client',
  whole: (organisation, range) => {
    const trailing = trailingCounts(organisation, range)
    return (totals) => {
      const counts = trailing.get(totals.workDay.day)
      return counts === undefined ? [] : [activityRow(totals, counts)]
    }
  },
  grouped: () => activityRowsByClient,
}

const PRODUCTIVITY: DayResource = {
  dimension: null,
  whole: () => (totals) => [productivityRow(totals)],
  grouped: () => () => [],
}

/** The resources with a row per day, by the last segment of their path. */
export const DAY_RESOURCES: ReadonlyMap<string, DayResource> = new Map([
  ['tokens', TOKENS],
  ['tools', TOOLS],
  ['activity', ACTIVITY],
  ['productivity', PRODUCTIVITY],
])

/** What an answer is made of; `now` is milliseconds since the epoch. */
export interface Platform {
  readonly organisation: Organisation
  readonly now: () => number
  /** Totals by the offset of the day: small, however many people there are. */
  readonly totals: Lru<number, DayTotals>
  /** Bodies of `/users` by what was asked; asking again is common (a retry, a second look). */
  readonly pages: Lru<string, Uint8Array<ArrayBuffer>>
}

const KEPT_DAYS = 400
const KEPT_PAGE_BYTES = 96 * 1_048_576

/** A platform over an organisation; what it keeps is bounded, whatever the history. */
export function createPlatform(organisation: Organisation, now: () => number): Platform {
  return {
    organisation,
    now,
    totals: createLru(KEPT_DAYS, () => 1),
    pages: createLru(KEPT_PAGE_BYTES, (body) => body.byteLength),
  }
}

/**
 * The body of a day endpoint, in pieces, so that no range is too long to hold.
 * @throws Refusal 400, before the first chunk, when a parameter is not accepted.
 */
export function dayAnswer(
  platform: Platform,
  resource: DayResource,
  query: URLSearchParams,
): Iterable<string> {
  const { organisation, now } = platform
  const range = rangeOf(query, organisation.firstDay, now())
  const rows = isGrouped(query, resource.dimension) ? resource.grouped : resource.whole
  return dayChunks(platform, range, rows(organisation, range))
}

/**
 * The body of a page of `/users`.
 * @throws Refusal 400 when a parameter is not accepted.
 */
export function userAnswer(
  { organisation, now, pages }: Platform,
  query: URLSearchParams,
): Uint8Array<ArrayBuffer> {
  const range = rangeOf(query, organisation.firstDay, now())
  isGrouped(query, null)
  const limit = limitOf(query)
  const from = placeAfterCursor(query, organisation)
  const key = `${range.first} ${range.last} ${limit} ${from}`
  return pages(key, () => pageBody(organisation, range, limit, from))
}

function pageBody(
  organisation: Organisation,
  range: DayRange,
  limit: number,
  from: number,
): Uint8Array<ArrayBuffer> {
  const days = openDays(organisation, range)
  const { rows, hasMore, nextCursor } = userPage(organisation, { days, limit, from })
  const paging: Field[] = [
    ['has_more', String(hasMore)],
    ['next_cursor', nextCursor === null ? 'null' : quote(nextCursor)],
  ]
  const text = `{"data":[${rows.join(',')}],"meta":${metaOf(organisation, range, paging)}}`
  return Buffer.from(text, 'latin1') // every string in it is written in ASCII
}

function* dayChunks(
  { organisation, totals }: Platform,
  range: DayRange,
  rowsOf: RowsOfDay,
): Generator<string> {
  let before = '{"data":['
  for (const workDay of openDays(organisation, range)) {
    for (const row of rowsOf(totals(workDay.offset, () => totalsOf(organisation, workDay)))) {
      yield before
      if (typeof row === 'string') yield row
      else yield* row
      before = ','
    }
  }
  yield `${before === ',' ? '' : before}],"meta":${metaOf(organisation, range, [])}}`
}

function metaOf(organisation: Organisation, range: DayRange, paging: readonly Field[]): string {
  return object([
    ['org_id', quoteAscii(organisation.id)],
    ['start_date', quote(range.first)],
    ['end_date', quote(range.last)],
    ...paging,
  ])
}
