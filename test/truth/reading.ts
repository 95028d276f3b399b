import { exactNumber, type Json, type JsonObject } from './exact-json.ts'

/** The metric that is no count. */
export const CREDITS = 'billable_tokens'

const MOST_BIGINT = 2n ** 63n - 1n
const LEAST_BIGINT = -(2n ** 63n)
const NUMBER_AS_TEXT = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/

/**
 * A count: `12`, `12.0` and `"12"` are 12. NULL for what was not sent and for
 * what is no whole number or does not fit a BIGINT.
 */
export function count(json: Json | undefined): bigint | null {
  const value = number(json)
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : null
  if (value === null || value < LEAST_BIGINT || value > MOST_BIGINT) return null
  return value
}

const DECIMAL = /^(-?)(\d+)(?:\.(\d{1,6}))?$/

/**
 * Credits, as millionths. NULL for what was not sent and for what is no number of
 * at most six digits behind the point.
 */
export function credits(json: Json | undefined): bigint | null {
  const value = number(json)
  const [, sign = '', whole = '', fraction = ''] = DECIMAL.exec(String(value)) ?? []
  if (value === null || whole === '') return null
  return BigInt(`${sign}${whole}${fraction.padEnd(6, '0')}`)
}

/** What a row says of a metric: credits as millionths, anything else as a count. */
export function amount(row: JsonObject | undefined, metric: string): bigint | null {
  return metric === CREDITS ? credits(row?.get(metric)) : count(row?.get(metric))
}

/** A ratio. NULL for what was not sent and for what is no finite number. */
export function double(json: Json | undefined): number | null {
  const value = number(json)
  return value === null || !Number.isFinite(Number(value)) ? null : Number(value)
}

/** Text as served. NULL for what was not sent and for what is no text. */
export function text(json: Json | undefined): string | null {
  return typeof json === 'string' ? json : null
}

/** The objects of an array; none when there is no array. */
export function items(json: Json | undefined): JsonObject[] {
  return Array.isArray(json) ? json.filter((item): item is JsonObject => item instanceof Map) : []
}

/** The texts of an array; none when there is no array. */
export function texts(json: Json | undefined): string[] {
  return Array.isArray(json) ? json.filter((item): item is string => typeof item === 'string') : []
}

/** The keys and values of an object; none when there is no object. */
export function entries(json: Json | undefined): (readonly [string, Json])[] {
  return json instanceof Map ? [...json] : []
}

/** The one row of each day. Should a day be served twice, the later row holds. */
export function byDay(rows: readonly JsonObject[]): ReadonlyMap<string, JsonObject> {
  return new Map(rows.flatMap((row) => withDay(row)))
}

/** All rows of each day, in the order they were served. */
export function rowsByDay(rows: readonly JsonObject[]): ReadonlyMap<string, JsonObject[]> {
  const days = new Map<string, JsonObject[]>()
  for (const [day, row] of rows.flatMap((row) => withDay(row))) {
    const own = days.get(day)
    if (own === undefined) days.set(day, [row])
    else own.push(row)
  }
  return days
}

/** Each value once, in order of code units. */
export function sorted(values: Iterable<string>): string[] {
  return [...new Set(values)].sort()
}

function withDay(row: JsonObject): (readonly [string, JsonObject])[] {
  const day = text(row.get('date'))
  return day === null ? [] : [[day, row]]
}

function number(json: Json | undefined): number | bigint | null {
  if (typeof json === 'number' || typeof json === 'bigint') return json
  if (typeof json !== 'string') return null
  const token = json.trim()
  return NUMBER_AS_TEXT.test(token) ? exactNumber(token) : null
}
