import { parseDay, type DayRange } from '../lib/days.ts'
import { UsageError } from '../lib/errors.ts'
import { fieldOf } from '../lib/json.ts'
import type { Learned } from '../lib/learned.ts'
import { checkWhole } from '../lib/numbers.ts'
import { kindOf } from '../lib/text.ts'
import type { Body, HttpHead, World } from '../lib/world.ts'
import { Controls, Limits, Readiness } from './endpoints/organisation.ts'
import { Computers, Sessions } from './endpoints/sessions.ts'
import {
  eachPage,
  textOf,
  objectsOf,
  readResponse,
  utf8,
  withQuery,
  type Caller,
} from './http/call.ts'
import { BodyError } from './errors.ts'
import {
  Transport,
  type ResponseOrigin,
  type Call,
  type TransportOptions,
} from './http/transport.ts'
import {
  validateMetadata,
  sliceEnvelope,
  RowScanner,
  servedRow,
  type ServedRow,
} from './json/envelope.ts'
import { serverTime } from './rate-limit/header-values.ts'
import type {
  ActivityDay,
  GroupedRow,
  ModelDay,
  OpenEnum,
  ProductivityDay,
  TokensDay,
  ToolsDay,
  UserDay,
} from './types.ts'

/** The analytics endpoints (PLATFORM_API, "Analytics"), each below `/api/v1/analytics/`. */
export type AnalyticsEndpoint = OpenEnum<'tokens' | 'tools' | 'activity' | 'productivity' | 'users'>

/** What to request from an analytics endpoint. */
export interface AnalyticsQuery {
  /** Both days included; `parseDay` makes a day of a text. */
  readonly range: DayRange
  /** One row per group and day, where the endpoint has this grouping. */
  readonly groupBy?: 'model' | 'tool_name' | 'client' | undefined
  /** Users on a page, 1 to 100, where an endpoint is paginated, as `/users` is. */
  readonly limit?: number | undefined
  /** `next_cursor` of the page before. */
  readonly cursor?: string | undefined
  /** The caller divides a range that takes too long, so the request is not retried as it is. */
  readonly isDivisible?: boolean
}

/** A response without its rows. */
export interface ResponseMetadata extends ResponseOrigin {
  /** `meta.org_id`; null if the response has none. */
  readonly orgId: string | null
  /** Whether there is another page, which begins at `nextCursor`. */
  readonly hasMore: boolean
  readonly nextCursor: string | null
  /** The server's clock, milliseconds since the epoch; null without a `Date`, NaN if it is invalid. */
  readonly serverTime: number | null
}

/** One response, its rows exactly as served. */
export interface AnalyticsResponse extends ResponseMetadata {
  readonly rows: readonly ServedRow[]
}

/** Receives the rows of one response while it arrives. */
export interface RowHandler {
  /** Called before the first row, and again if the response was cut off: rows so far do not count. */
  readonly begin: (origin: ResponseOrigin) => void
  /** Whether `row` is to be called with the row of this JSON text. Other rows are not parsed. */
  readonly isWanted: (text: string) => boolean
  /** `ordinal`: the position of the row in the response, from 0. */
  readonly row: (row: ServedRow, ordinal: number) => void
}

/** The highest number of users on a page of `/users` (PLATFORM_API, "Limits"). */
export const MAX_PAGE_SIZE = 100

/** Enough for a page of users or a short range of days: such a response is held in memory. */
const MAX_RESPONSE_BYTES = 8 * 1024 * 1024

/**
 * The limit for a single day of a day endpoint, which cannot be halved, and for a response whose
 * rows are handled while they arrive.
 */
const MAX_DAY_BYTES = 512 * 1024 * 1024

export interface ClientOptions extends TransportOptions {
  /** The public API host, e.g. `https://api.example.com`. */
  readonly baseUrl: string
  /** The web application host, e.g. `https://app.example.com`, which serves readiness reports. */
  readonly appUrl?: string | undefined
}

/** Both days `YYYY-MM-DD`, UTC, included. */
export interface DateRangeOptions {
  readonly startDate: string
  readonly endDate: string
}

/**
 * The platform's public API, typed. Every method throws RefusedError (401,
 * 403), ApiError with the Problem body, TransportError, BodyError, or
 * DeferredError when a rate limit would outlast the deadline.
 */
export class ApiClient {
  readonly #caller: Caller
  /** The history of the enterprise controls. */
  readonly controls: Controls
  /** Credit limits. */
  readonly limits: Limits
  /** Readiness reports of repositories; requires `appUrl`. */
  readonly readiness: Readiness
  /** Sessions and their messages. */
  readonly sessions: Sessions
  /** Persistent environments that sessions run in. */
  readonly computers: Computers

  constructor(options: ClientOptions, world: World) {
    const transport = new Transport(options, world)
    const on = (url: string): Caller => ({ transport, baseUrl: url.replace(/\/+$/, '') })
    const caller = on(options.baseUrl)
    this.#caller = caller
    this.controls = new Controls(caller)
    this.limits = new Limits(caller)
    this.readiness = new Readiness(options.appUrl === undefined ? null : on(options.appUrl))
    this.sessions = new Sessions(caller)
    this.computers = new Computers(caller)
  }

  /** The limits learned so far, for the option `learned` of the next client. */
  learned(): Learned {
    return this.#caller.transport.learned()
  }

  /**
   * Sends one request to an endpoint. Rows are cut from the text as served and each is
   * valid JSON; the caller checks their fields.
   *
   * @throws UsageError for a limit out of 1 to 100.
   */
  async ask(endpoint: AnalyticsEndpoint, query: AnalyticsQuery): Promise<AnalyticsResponse> {
    const { range, limit } = query
    const isPage = endpoint === 'users' || limit !== undefined
    const maxBytes = !isPage && range.first === range.last ? MAX_DAY_BYTES : MAX_RESPONSE_BYTES
    const call = this.#callOf(endpoint, query, maxBytes)
    return this.#caller.transport.call(call, (response, origin) => {
      const { rows, rest } = readResponse('GET', origin, ANALYTICS, response, () => {
        const envelope = sliceEnvelope(utf8().decode(response.body))
        validateMetadata(call.path, envelope.rest)
        return envelope
      })
      return { rows, ...metadataOf(origin, response, rest) }
    })
  }

  /**
   * Sends one request to an endpoint and passes the rows on while they arrive: memory holds one
   * row, however long the range. The rows are complete when the promise resolves; it rejects with
   * what the handler throws.
   */
  async stream(
    endpoint: AnalyticsEndpoint,
    query: AnalyticsQuery,
    handler: RowHandler,
  ): Promise<ResponseMetadata> {
    const call = this.#callOf(endpoint, query, MAX_DAY_BYTES)
    return this.#caller.transport.stream(call, (head, origin, body) =>
      passRows(origin, head, body, handler),
    )
  }

  /** Credits and tokens, one row per day. */
  tokens(range: DateRangeOptions): Promise<TokensDay[]> {
    return this.#days('tokens', range)
  }

  /** Credits and tokens, one row per model and day. */
  tokensByModel(range: DateRangeOptions): Promise<ModelDay[]> {
    return this.#days('tokens', range, 'model')
  }

  /** Tool usage, one row per day. */
  tools(range: DateRangeOptions): Promise<ToolsDay[]> {
    return this.#days('tools', range)
  }

  /** Tool calls, one row per tool and day. */
  toolsByName(range: DateRangeOptions): Promise<(GroupedRow & { readonly tool_calls?: number })[]> {
    return this.#days('tools', range, 'tool_name')
  }

  /** Active users and sessions, one row per day. */
  activity(range: DateRangeOptions): Promise<ActivityDay[]> {
    return this.#days('activity', range)
  }

  /** Active users, one row per client and day; a user on two clients is in both. */
  activityByClient(
    range: DateRangeOptions,
  ): Promise<(GroupedRow & { readonly daily_active_users?: number })[]> {
    return this.#days('activity', range, 'client')
  }

  /** Files, commits and pull requests, one row per day. */
  productivity(range: DateRangeOptions): Promise<ProductivityDay[]> {
    return this.#days('productivity', range)
  }

  /**
   * Every user of every day in the range, page by page. If users change while the pages are read, one
   * may be on two of them.
   */
  async *users(range: DateRangeOptions): AsyncGenerator<readonly UserDay[], void, undefined> {
    for await (const page of userPages((query) => this.ask('users', query), rangeOf(range))) {
      yield objectsOf<UserDay>(page.rows, page)
    }
  }

  async #days<T extends { readonly date: string }>(
    endpoint: AnalyticsEndpoint,
    range: DateRangeOptions,
    groupBy?: AnalyticsQuery['groupBy'],
  ): Promise<T[]> {
    const response = await this.ask(endpoint, { range: rangeOf(range), groupBy })
    return objectsOf<T>(response.rows, response)
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
    return { method: 'GET', base: this.#caller.baseUrl, path, maxBytes, isDivisible }
  }
}

function rangeOf(options: DateRangeOptions): DayRange {
  const first = parseDay(options.startDate, 'startDate')
  const last = parseDay(options.endDate, 'endDate')
  if (first > last) throw new UsageError(`startDate ${first} is after endDate ${last}`)
  return { first, last }
}

/** Pages of `/users`, as `eachPage` does. Only `has_more` ends the pagination. */
export function userPages(
  ask: (query: AnalyticsQuery) => Promise<AnalyticsResponse>,
  range: DayRange,
  followed?: readonly string[],
): AsyncGenerator<AnalyticsResponse, void, undefined> {
  return eachPage(
    (cursor) => ask({ range, limit: MAX_PAGE_SIZE, cursor }),
    ({ hasMore, nextCursor }) => (hasMore ? nextCursor : undefined),
    followed,
  )
}

const ANALYTICS = 'analytics response'

async function passRows(
  origin: ResponseOrigin,
  head: HttpHead,
  body: Body,
  handler: RowHandler,
): Promise<ResponseMetadata> {
  const scanner = new RowScanner({ key: 'data' })
  const decoder = utf8()
  let byteLength = 0
  let rowsRead = 0
  const parsed = <T>(read: () => T): T =>
    readResponse('GET', origin, ANALYTICS, { ...head, body: { byteLength } }, read)
  const handOn = (piece: string): void => {
    const wanted = parsed(() =>
      scanner.write(piece).flatMap((text) => {
        const ordinal = rowsRead++
        return handler.isWanted(text) ? [{ row: servedRow(text), ordinal }] : []
      }),
    )
    for (const { row, ordinal } of wanted) handler.row(row, ordinal)
  }
  handler.begin(origin)
  for await (const piece of body) {
    byteLength += piece.byteLength
    handOn(parsed(() => decoder.decode(piece, { stream: true })))
  }
  const rest = parsed(() => {
    decoder.decode() // throws if the last character is cut off
    const document = scanner.end()
    validateMetadata(origin.request, document)
    return document
  })
  return metadataOf(origin, head, rest)
}

function metadataOf(origin: ResponseOrigin, head: HttpHead, rest: unknown): ResponseMetadata {
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
 * Absent without pagination, and where a server leaves out `false`; then there is no cursor
 * either. Any other value must not end the pagination.
 */
function hasMoreOf(
  value: unknown,
  nextCursor: string | null,
  { request, requestId }: ResponseOrigin,
): boolean {
  if (typeof value === 'boolean') return value
  if ((value === undefined || value === null) && nextCursor === null) return false
  throw new BodyError(
    `GET ${request}: 'has_more' is ${kindOf(value)}, so it is not known whether there is another page`,
    requestId,
  )
}
