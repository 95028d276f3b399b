import type { Day, DayRange } from '../core/days.ts'
import type { HttpResponse } from '../core/world.ts'
import { checkWhole } from './call.ts'
import { checkClaims } from './claims.ts'
import { fieldOf, sliceEnvelope, type ServedRow } from './envelope.ts'
import { BodyError } from './errors.ts'
import { serverTime } from './retry-after.ts'
import type { Transport } from './transport.ts'

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

/** One answer, its rows exactly as served. */
export interface AnalyticsAnswer {
  readonly rows: readonly ServedRow[]
  readonly orgId: string | null
  readonly hasMore: boolean
  readonly nextCursor: string | null
  /** Path and query, as asked. */
  readonly request: string
  readonly requestId: string | null
  /** The server's clock, milliseconds since the epoch; null when it sent no `Date`. */
  readonly serverTime: number | null
}

/** Users on a page of `/users`, at most (PLATFORM_API, "Limits"). */
export const MAX_PAGE_SIZE = 100

/**
 * Enough for a page of users; a range of days that outgrows it is halved by the
 * caller. An answer is held whole, so that this bounds what a sync takes.
 */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024

/** A single day of a day endpoint cannot be halved, so it may be as large as it must be. */
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
  if (query.limit !== undefined) checkWhole('limit', query.limit, 1, MAX_PAGE_SIZE)
  const path = analyticsPath(endpoint, query)
  const isDay = endpoint !== 'users' && query.range.first === query.range.last
  return transport.call(
    {
      method: 'GET',
      base: baseUrl,
      path,
      maxBytes: isDay ? MAX_DAY_BYTES : MAX_ANSWER_BYTES,
      isDivisible: query.isDivisible ?? false,
    },
    (response, requestId) => readAnswer(path, response, requestId),
  )
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

const utf8 = new TextDecoder('utf-8', { fatal: true })

function readAnswer(
  path: string,
  response: HttpResponse,
  requestId: string | null,
): AnalyticsAnswer {
  const { rows, rest } = parseBody(path, response, requestId)
  const meta = fieldOf(rest, 'meta')
  const nextCursor = textOf(fieldOf(meta, 'next_cursor'))
  return {
    rows,
    orgId: textOf(fieldOf(meta, 'org_id')),
    hasMore: hasMoreOf(fieldOf(meta, 'has_more'), nextCursor, path, requestId),
    nextCursor,
    request: path,
    requestId,
    serverTime: serverTime(response.headers) ?? null,
  }
}

/**
 * Absent where there are no pages, and where a server leaves out what is false: then there
 * is no cursor either. What is neither true nor false must not end a walk.
 */
function hasMoreOf(
  value: unknown,
  nextCursor: string | null,
  path: string,
  requestId: string | null,
): boolean {
  if (typeof value === 'boolean') return value
  if ((value === undefined || value === null) && nextCursor === null) return false
  const said = value === undefined ? 'absent' : JSON.stringify(value)
  throw new BodyError(
    `GET ${path}: 'has_more' is ${said}, so it is not known whether there is another page`,
    requestId,
  )
}

function parseBody(path: string, response: HttpResponse, requestId: string | null) {
  try {
    const envelope = sliceEnvelope(utf8.decode(response.body))
    checkClaims(path, envelope.rest)
    return envelope
  } catch (error) {
    const type = response.headers['content-type'] ?? 'no content type'
    throw new BodyError(
      `GET ${path}: status ${response.status} but no analytics answer (${type}, ${response.body.byteLength} bytes): ${error instanceof Error ? error.message : String(error)}`,
      requestId,
      { cause: error },
    )
  }
}

function textOf(value: unknown): string | null {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : null
}
