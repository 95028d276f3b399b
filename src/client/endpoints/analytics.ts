import type { Day, DayRange } from '../../lib/days.ts'
import { messageOf } from '../../lib/errors.ts'
import { kindOf } from '../../lib/text.ts'
import type { HttpHead } from '../../lib/world.ts'
import { checkWhole } from '../http/call.ts'
import {
  checkClaims,
  fieldOf,
  sliceEnvelope,
  sliceUnlessKnown,
  type Envelope,
  type RowsSum,
  type SummedEnvelope,
} from '../json/envelope.ts'
import { BodyError } from '../errors.ts'
import { serverTime } from '../rate-limit/header-values.ts'
import {
  RowScanner,
  servedRow,
  type KnownRows,
  type ScannedRow,
  type ServedRow,
} from '../json/row-scanner.ts'
import type { Call, StreamReader, Transport } from '../http/transport.ts'

/** The five analytics endpoints (PLATFORM_API, "Analytics"). */
export type AnalyticsEndpoint = 'tokens' | 'tools' | 'activity' | 'productivity' | 'users'

export interface AnalyticsQuery {
  readonly range: DayRange
  readonly groupBy?: 'model' | 'tool_name' | 'client'
  /** `/users` only: users a page, 1 to 100. */
  readonly limit?: number
  /** `/users` only: `next_cursor` of the page before. */
  readonly cursor?: string
  /** See Call. */
  readonly isDivisible?: boolean
}

/** What an answer says besides its rows. */
export interface AnalyticsTail {
  readonly orgId: string | null
  readonly hasMore: boolean
  readonly nextCursor: string | null
  /** Path and query, as asked. */
  readonly request: string
  readonly requestId: string | null
  /** The server's clock, milliseconds since the epoch; null when it sent no `Date`, NaN for no date. */
  readonly serverTime: number | null
}

/** One answer, its rows exactly as served. */
export interface AnalyticsAnswer extends AnalyticsTail {
  readonly rows: readonly ServedRow[]
}

/** A page of `/users` whose rows may be known: see `SummedEnvelope`. */
export type UsersPage = AnalyticsTail & Omit<SummedEnvelope, 'rest'>

/** Where an answer comes from. */
export type AnswerOrigin = Pick<AnalyticsAnswer, 'request' | 'requestId'>

/** Takes the rows of one answer while it comes. */
export interface RowTaker {
  /** Before the first row. Once more where the answer was cut off: what was taken is worth nothing. */
  readonly begin: (origin: AnswerOrigin) => void
  /** Whether a row, by its JSON text, is to be handed on. One that is not is not even parsed. */
  readonly isWanted: (text: string) => boolean
  /** `ordinal`: of the row in the answer, from 0. */
  readonly row: (row: ServedRow, ordinal: number) => Promise<void>
  /** Rows that may be known, and takes those that are: they are not parsed again. */
  readonly known: KnownRows & { readonly take: (text: string) => Promise<void> }
}

/** Users on a page of `/users`, at most (PLATFORM_API, "Limits"). */
export const MAX_PAGE_SIZE = 100

/** Enough for a page of users, or a short range of days: such an answer is held whole. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024

/**
 * A single day of a day endpoint cannot be halved, so it may be as large as it
 * must be; and so may an answer whose rows are taken while they come.
 */
const MAX_DAY_BYTES = 512 * 1024 * 1024

/**
 * Asks one analytics endpoint once. Rows are cut from the text as served and
 * each is valid JSON; their fields are the reader's to check.
 *
 * @throws UsageError for a limit out of 1 to 100.
 */
export async function askAnalytics(
  transport: Transport,
  baseUrl: string,
  endpoint: AnalyticsEndpoint,
  query: AnalyticsQuery,
): Promise<AnalyticsAnswer> {
  const isDay = endpoint !== 'users' && query.range.first === query.range.last
  const call = callOf(baseUrl, endpoint, query, isDay ? MAX_DAY_BYTES : MAX_ANSWER_BYTES)
  return askWhole(transport, call, sliceEnvelope)
}

/** Asks for one page of `/users`, whose rows are not read where they are the `known` ones. */
export async function askPage(
  transport: Transport,
  baseUrl: string,
  query: AnalyticsQuery,
  known: RowsSum | undefined,
): Promise<UsersPage> {
  const call = callOf(baseUrl, 'users', query, MAX_ANSWER_BYTES)
  return askWhole(transport, call, (text) => sliceUnlessKnown(text, known))
}

async function askWhole<T extends Pick<Envelope, 'rest'>>(
  transport: Transport,
  call: Call,
  slice: (text: string) => T,
): Promise<Omit<T, 'rest'> & AnalyticsTail> {
  return transport.call(call, (response, requestId) => {
    const origin = { request: call.path, requestId }
    const { rest, ...rows } = whole(origin, response, response.body.byteLength, () =>
      slice(utf8().decode(response.body)),
    )
    return { ...rows, ...tailOf(origin, response, rest) }
  })
}

/**
 * The same, with the rows handed on while they come: memory holds a row, however
 * long the range. That they were all is known when the promise resolves; it
 * rejects with what the taker throws.
 */
export async function streamAnalytics(
  transport: Transport,
  baseUrl: string,
  endpoint: AnalyticsEndpoint,
  query: AnalyticsQuery,
  taker: RowTaker,
): Promise<AnalyticsTail> {
  const call = callOf(baseUrl, endpoint, query, MAX_DAY_BYTES)
  // what the taker throws is not the answer's fault: outside of the transport, which would ask again
  const tail = await transport.stream(call, (head, requestId) =>
    readerOf({ request: call.path, requestId }, head, taker),
  )
  return tail()
}

/** A row to be handed on, and where it is in the answer, from 0. */
interface ReadRow {
  readonly row: ServedRow | ScannedRow
  readonly ordinal: number
}

function readerOf(
  origin: AnswerOrigin,
  head: HttpHead,
  taker: RowTaker,
): StreamReader<() => AnalyticsTail> {
  const scanner = new RowScanner({ key: 'data' }, taker.known)
  const decoder = utf8()
  let bytes = 0
  let unreadable: { readonly error: unknown } | undefined
  let refused: { readonly error: unknown } | undefined
  let rowsRead = 0
  const handOn = async (read: () => readonly ScannedRow[]): Promise<void> => {
    for (const { row, ordinal } of rowsOf(read)) {
      try {
        await ('value' in row ? taker.row(row, ordinal) : taker.known.take(row.text))
      } catch (error) {
        refused = { error }
        return
      }
    }
  }
  const rowsOf = (read: () => readonly ScannedRow[]): ReadRow[] => {
    try {
      const first = rowsRead
      const rows = read()
      rowsRead += rows.length
      return rows.flatMap((row, at): ReadRow[] => {
        const ordinal = first + at
        if (row.isKnown) return [{ row, ordinal }]
        return taker.isWanted(row.text) ? [{ row: servedRow(row.text), ordinal }] : []
      })
    } catch (error) {
      unreadable = { error }
      return []
    }
  }
  const isGood = (): boolean => unreadable === undefined && refused === undefined
  taker.begin(origin)
  return {
    take: async (piece) => {
      bytes += piece.byteLength
      await handOn(() => scanner.write(decoder.decode(piece, { stream: true })))
      return isGood()
    },
    end: async () => {
      if (isGood()) await handOn(() => scanner.flush())
      if (refused !== undefined) return rethrow(refused.error)
      const { rest } = whole(origin, head, bytes, () => {
        if (unreadable !== undefined) throw unreadable.error
        decoder.decode() // throws where the last character is cut off
        return { rest: scanner.end() }
      })
      const tail = tailOf(origin, head, rest)
      return () => tail
    },
  }
}

function rethrow(error: unknown): () => never {
  return () => {
    throw error
  }
}

function callOf(
  base: string,
  endpoint: AnalyticsEndpoint,
  query: AnalyticsQuery,
  maxBytes: number,
): Call {
  if (query.limit !== undefined) checkWhole('limit', query.limit, 1, MAX_PAGE_SIZE)
  const path = analyticsPath(endpoint, query)
  return { method: 'GET', base, path, maxBytes, isDivisible: query.isDivisible ?? false }
}

export function analyticsPath(endpoint: AnalyticsEndpoint, query: AnalyticsQuery): string {
  const parameters = new URLSearchParams({
    startDate: query.range.first satisfies Day,
    endDate: query.range.last,
    ...(query.groupBy === undefined ? {} : { group_by: query.groupBy }),
    ...(query.limit === undefined ? {} : { limit: String(query.limit) }),
    ...(query.cursor === undefined ? {} : { cursor: query.cursor }),
  })
  return `/api/v1/analytics/${endpoint}?${parameters.toString()}`
}

function utf8() {
  return new TextDecoder('utf-8', { fatal: true })
}

function tailOf(origin: AnswerOrigin, head: HttpHead, rest: unknown): AnalyticsTail {
  const meta = fieldOf(rest, 'meta')
  const nextCursor = textOf(fieldOf(meta, 'next_cursor'))
  return {
    ...origin,
    orgId: textOf(fieldOf(meta, 'org_id')),
    hasMore: hasMoreOf(fieldOf(meta, 'has_more'), nextCursor, origin),
    nextCursor,
    serverTime: serverTime(head.headers),
  }
}

/**
 * Absent where there are no pages, and where a server leaves out what is false: then there
 * is no cursor either. What is neither true nor false must not end the pagination.
 */
function hasMoreOf(
  value: unknown,
  nextCursor: string | null,
  { request, requestId }: AnswerOrigin,
): boolean {
  if (typeof value === 'boolean') return value
  if ((value === undefined || value === null) && nextCursor === null) return false
  throw new BodyError(
    `GET ${request}: 'has_more' is ${kindOf(value)}, so it is not known whether there is another page`,
    requestId,
  )
}

/** Reads an answer to its end, and holds it to its claims. @throws BodyError for any other error. */
function whole<T extends Pick<Envelope, 'rest'>>(
  { request, requestId }: AnswerOrigin,
  { status, headers }: HttpHead,
  bytes: number,
  read: () => T,
): T {
  try {
    const envelope = read()
    checkClaims(request, envelope.rest)
    return envelope
  } catch (error) {
    const type = headers['content-type'] ?? 'no content type'
    throw new BodyError(
      `GET ${request}: status ${status} but no analytics answer (${type}, ${bytes} bytes): ${messageOf(error)}`,
      requestId,
      { cause: error },
    )
  }
}

function textOf(value: unknown): string | null {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : null
}
