import type { DayRange } from '../../lib/days.ts'
import { fieldOf } from '../../lib/json.ts'
import { kindOf } from '../../lib/text.ts'
import type { HttpHead } from '../../lib/world.ts'
import { checkWhole, Endpoints, readAnswer, utf8, withQuery } from '../http/call.ts'
import {
  validateMetadata,
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
import type { AnswerReader, Call } from '../http/transport.ts'
import type { OpenEnum } from '../types.ts'

/** The analytics endpoints (PLATFORM_API, "Analytics"), each below `/api/v1/analytics/`. */
export type AnalyticsEndpoint = OpenEnum<'tokens' | 'tools' | 'activity' | 'productivity' | 'users'>

export interface AnalyticsQuery {
  readonly range: DayRange
  readonly groupBy?: 'model' | 'tool_name' | 'client' | undefined
  /** Of what comes in pages, as `/users`: users a page, 1 to 100. */
  readonly limit?: number
  /** Of what comes in pages: `next_cursor` of the page before. */
  readonly cursor?: string | undefined
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

/** A page of users whose rows may be known: see `SummedEnvelope`. */
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
  readonly row: (row: ServedRow, ordinal: number) => void
  /** Rows that may be known, and takes those that are: they are not parsed again. */
  readonly known: KnownRows & { readonly take: (text: string) => void }
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

/** The analytics endpoints, their rows exactly as served. */
export class Analytics extends Endpoints {
  /**
   * Asks one endpoint once. Rows are cut from the text as served and each is valid
   * JSON; their fields are the reader's to check.
   *
   * @throws UsageError for a limit out of 1 to 100.
   */
  async ask(endpoint: AnalyticsEndpoint, query: AnalyticsQuery): Promise<AnalyticsAnswer> {
    const { range, limit } = query
    const isPage = endpoint === 'users' || limit !== undefined
    const maxBytes = !isPage && range.first === range.last ? MAX_DAY_BYTES : MAX_ANSWER_BYTES
    return this.#askWhole(this.#callOf(endpoint, query, maxBytes), (text) => sliceEnvelope(text))
  }

  /** Asks for one page of users, whose rows are not read where they are the `known` ones. */
  async page(
    endpoint: AnalyticsEndpoint,
    query: AnalyticsQuery,
    known: RowsSum | undefined,
  ): Promise<UsersPage> {
    const call = this.#callOf(endpoint, query, MAX_ANSWER_BYTES)
    return this.#askWhole(call, (text) => sliceUnlessKnown(text, known))
  }

  /**
   * Asks one endpoint once, with the rows handed on while they come: memory holds a row, however
   * long the range. That they were all is known when the promise resolves; it
   * rejects with what the taker throws.
   */
  async stream(
    endpoint: AnalyticsEndpoint,
    query: AnalyticsQuery,
    taker: RowTaker,
  ): Promise<AnalyticsTail> {
    const call = this.#callOf(endpoint, query, MAX_DAY_BYTES)
    // what the taker throws is not the answer's fault: outside of the transport, which would ask again
    const tail = await this.caller.transport.stream(call, (head, requestId) =>
      readerOf({ request: call.path, requestId }, head, taker),
    )
    return tail()
  }

  #askWhole<T extends Pick<Envelope, 'rest'>>(
    call: Call,
    slice: (text: string) => T,
  ): Promise<Omit<T, 'rest'> & AnalyticsTail> {
    return this.caller.transport.call(call, (response, requestId) => {
      const origin = { request: call.path, requestId }
      const { rest, ...rows } = whole(origin, response, () => slice(utf8().decode(response.body)))
      return { ...rows, ...tailOf(origin, response, rest) }
    })
  }

  #callOf(
    endpoint: AnalyticsEndpoint,
    { range, groupBy, limit, cursor, isDivisible = false }: AnalyticsQuery,
    maxBytes: number,
  ): Call {
    if (limit !== undefined) checkWhole('limit', limit, 1, MAX_PAGE_SIZE)
    const path = withQuery(`/api/v1/analytics/${endpoint}`, {
      startDate: range.first,
      endDate: range.last,
      group_by: groupBy,
      limit,
      cursor,
    })
    return { method: 'GET', base: this.caller.baseUrl, path, maxBytes, isDivisible }
  }
}

function readerOf(
  origin: AnswerOrigin,
  head: HttpHead,
  taker: RowTaker,
): AnswerReader<() => AnalyticsTail> {
  const scanner = new RowScanner({ key: 'data' }, taker.known)
  const decoder = utf8()
  let byteLength = 0
  let rowsRead = 0
  let unreadable: { readonly error: unknown } | undefined
  let refused: { readonly error: unknown } | undefined
  /** The rows to be handed on, all of them parsed; a known one is null. */
  const wantedOf = (rows: readonly ScannedRow[]) => {
    const first = rowsRead
    rowsRead += rows.length
    return rows.flatMap(({ text, isKnown }, index) => {
      if (!isKnown && !taker.isWanted(text)) return []
      return [{ text, row: isKnown ? null : servedRow(text), ordinal: first + index }]
    })
  }
  const handOn = (scan: () => readonly ScannedRow[]): void => {
    try {
      const wanted = wantedOf(scan())
      try {
        for (const { text, row, ordinal } of wanted) {
          if (row === null) taker.known.take(text)
          else taker.row(row, ordinal)
        }
      } catch (error) {
        refused = { error }
      }
    } catch (error) {
      unreadable = { error }
    }
  }
  const isGood = (): boolean => (unreadable ?? refused) === undefined
  taker.begin(origin)
  return {
    take: (piece) => {
      byteLength += piece.byteLength
      handOn(() => scanner.write(decoder.decode(piece, { stream: true })))
      return Promise.resolve(isGood())
    },
    end: () => {
      if (isGood()) handOn(() => scanner.flush())
      if (refused !== undefined) return rethrow(refused.error)
      const { rest } = whole(origin, { ...head, body: { byteLength } }, () => {
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

/** Reads an answer to its end, and validates its metadata. @throws BodyError */
function whole<T extends Pick<Envelope, 'rest'>>(
  { request, requestId }: AnswerOrigin,
  answer: Parameters<typeof readAnswer>[2],
  read: () => T,
): T {
  return readAnswer('analytics answer', { method: 'GET', path: request, requestId }, answer, () => {
    const envelope = read()
    validateMetadata(request, envelope.rest)
    return envelope
  })
}

function textOf(value: unknown): string | null {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : null
}
