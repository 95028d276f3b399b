import type { Context } from 'hono'
import type { z } from 'zod'
import { dayOf, isDay, type Day, type DayRange } from '../lib/days.ts'
import { lastDayAt } from './calendar.ts'
import type { Organisation } from './organisation.ts'
import { badRequest, Refusal } from './problems.ts'

const DEFAULT_LIMIT = 20
const LARGEST_LIMIT = 100

/**
 * The days that a request asks for.
 * @throws Refusal 400 for a missing or malformed date, a start after the end,
 * and any day outside the history, which runs through yesterday (UTC).
 */
export function rangeOf(query: URLSearchParams, firstDay: Day, now: number): DayRange {
  const first = dateOf(query, 'startDate')
  const last = dateOf(query, 'endDate')
  if (first > last) throw badRequest(`startDate ${first} is after endDate ${last}`)
  const latest = first > lastDayAt(now) ? first : last
  if (latest > lastDayAt(now)) {
    throw badRequest(`no data for ${latest} yet: today is ${dayOf(now)}, ask through yesterday`)
  }
  if (first < firstDay) throw badRequest(`no data for ${first}: history begins on ${firstDay}`)
  return { first, last }
}

/**
 * Whether the grouped form is asked for. `dimension` is the one that the
 * resource knows; null when it knows none.
 * @throws Refusal 400 for any other value.
 */
export function isGrouped(query: URLSearchParams, dimension: string | null): boolean {
  const value = query.get('group_by')
  if (value === null) return false
  if (value === dimension) return true
  const allowed = dimension === null ? 'it is not supported here' : `allowed is '${dimension}'`
  throw badRequest(`group_by '${value}': ${allowed}`)
}

/** Users per page. @throws Refusal 400 when it is not a whole number from 1 to 100. */
export function limitOf(query: URLSearchParams): number {
  return wholeOf(query, 'limit', 1, LARGEST_LIMIT) ?? DEFAULT_LIMIT
}

/** The place in `people` after the cursor. @throws Refusal 400 for an unknown cursor. */
export function placeAfterCursor(query: URLSearchParams, organisation: Organisation): number {
  const cursor = query.get('cursor')
  if (cursor === null) return 0
  const place = organisation.placeOf.get(cursor)
  if (place === undefined) throw badRequest(`cursor '${cursor}' is unknown`)
  return place + 1
}

function dateOf(query: URLSearchParams, name: string): Day {
  const text = query.get(name)
  if (text === null) throw badRequest(`${name} is required`)
  if (!isDay(text)) throw badRequest(`${name} '${text}' is not a date in the form YYYY-MM-DD`)
  return text
}

/** A whole number of the query; undefined without one. @throws Refusal 400 out of its bounds. */
export function wholeOf(
  query: URLSearchParams,
  name: string,
  least: number,
  most: number,
): number | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  const value = /^\d{1,9}$/.test(text) ? Number(text) : -1
  if (value >= least && value <= most) return value
  throw badRequest(`${name} '${text}' is not a whole number from ${least} to ${most}`)
}

/** The body of a request. @throws Refusal 400 when it is not what the API accepts. */
export async function bodyOf<T>(context: Context, schema: z.ZodType<T>): Promise<T> {
  const text = await context.req.text()
  const result = schema.safeParse(parsed(text))
  if (result.success) return result.data
  const issue = result.error.issues[0]
  throw badRequest(`${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not accepted'}`)
}

/** 404: no such thing. */
export function notFound(what: string, id: string): Refusal {
  return new Refusal(404, 'Not Found', `there is no ${what} '${id}'`)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw badRequest('the body is not JSON')
  }
}
