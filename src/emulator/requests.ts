import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { z } from 'zod'
import { dayOf, isDay, type Day, type DayRange } from '../lib/days.ts'
import { lastDayAt } from './calendar.ts'
import type { Organisation } from './people.ts'

/** The public API host, or the web application host. */
export type Host = 'api' | 'app'

/** hono's context of a request. `organisation` is counted from 1. */
export interface Env {
  Bindings: { host: Host; organisation: number }
  Variables: { requestId: string }
}

/** The input of every response, besides changes by requests. */
export interface Platform {
  readonly organisation: Organisation
  readonly seed: number
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Whether sessions may be interrupted. */
  readonly canInterrupt: boolean
}

export function badRequest(message: string): HTTPException {
  return new HTTPException(400, { message })
}

export function forbidden(message: string): HTTPException {
  return new HTTPException(403, { message })
}

export function notFound(what: string, id: string): HTTPException {
  return new HTTPException(404, { message: `there is no ${what} '${id}'` })
}

/**
 * The requested days.
 * @throws HTTPException 400 for a missing or malformed date, a start after the end,
 * and any day outside the history, which runs through yesterday (UTC).
 */
export function rangeOf(context: Context, firstDay: Day, now: number): DayRange {
  const first = dateOf(context, 'startDate')
  const last = dateOf(context, 'endDate')
  if (first > last) throw badRequest(`startDate ${first} is after endDate ${last}`)
  const latest = first > lastDayAt(now) ? first : last
  if (latest > lastDayAt(now)) {
    throw badRequest(`no data for ${latest} yet: today is ${dayOf(now)}, ask through yesterday`)
  }
  if (first < firstDay) throw badRequest(`no data for ${first}: history begins on ${firstDay}`)
  return { first, last }
}

function dateOf(context: Context, name: string): Day {
  const text = context.req.query(name)
  if (text === undefined) throw badRequest(`${name} is required`)
  if (!isDay(text)) throw badRequest(`${name} '${text}' is not a date in the form YYYY-MM-DD`)
  return text
}

/**
 * Whether the grouped form is requested. `dimension` is the only one that the
 * resource supports; null if it supports none.
 * @throws HTTPException 400 for any other value.
 */
export function isGrouped(context: Context, dimension: string | null): boolean {
  const value = context.req.query('group_by')
  if (value === undefined) return false
  if (value === dimension) return true
  const allowed = dimension === null ? 'it is not supported here' : `allowed is '${dimension}'`
  throw badRequest(`group_by '${value}': ${allowed}`)
}

/** The place in `people` after the cursor. @throws HTTPException 400 for an unknown cursor. */
export function placeAfterCursor(context: Context, { placeOf }: Organisation): number {
  const cursor = context.req.query('cursor')
  if (cursor === undefined) return 0
  const place = placeOf.get(cursor)
  if (place === undefined) throw badRequest(`cursor '${cursor}' is unknown`)
  return place + 1
}

/** A whole number in the query; undefined without one. @throws HTTPException 400 out of its bounds. */
export function limitIn(context: Context, most: number): number | undefined {
  const text = context.req.query('limit')
  if (text === undefined) return undefined
  const value = /^\d{1,9}$/.test(text) ? Number(text) : -1
  if (value >= 1 && value <= most) return value
  throw badRequest(`limit '${text}' is not a whole number from 1 to ${most}`)
}

/** The body of a request. @throws HTTPException 400 if the API does not accept it. */
export async function bodyOf<T>(context: Context, schema: z.ZodType<T>): Promise<T> {
  const body: unknown = await context.req.json().catch(() => {
    throw badRequest('the body is not JSON')
  })
  const result = schema.safeParse(body)
  if (result.success) return result.data
  const issue = result.error.issues[0]
  throw badRequest(`${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not accepted'}`)
}
