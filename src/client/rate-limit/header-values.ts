import { MS_PER_DAY } from '../../lib/days.ts'

/** No run lasts longer, and no clock that is used to compute a wait is further from ours. */
const FARTHEST_MS = 366 * MS_PER_DAY

/**
 * How long a `Retry-After` field asks to wait, in milliseconds: seconds, or any
 * of the three HTTP-date forms (RFC 9110, sections 10.2.3 and 5.6.7). A date is
 * read against the server's own `Date`, so a skewed clock here does not matter.
 * Undefined for an unreadable field; 0 for a date in the past; at most a year.
 */
export function retryAfterMs(
  headers: Readonly<Record<string, string>>,
  now: number,
): number | undefined {
  const field = headers['retry-after']?.trim()
  if (field === undefined || field === '') return undefined
  if (/^\d+(\.\d+)?$/.test(field)) return Math.min(Math.ceil(Number(field) * 1000), FARTHEST_MS)
  const until = httpDate(field)
  if (until === undefined) return undefined
  return Math.min(Math.max(0, until - serverClock(headers, now)), FARTHEST_MS)
}

/**
 * The server's clock by its `Date` field, milliseconds since the epoch: null without the
 * field, and NaN for a value that is no date, which no server with a clock sends.
 */
export function serverTime(headers: Readonly<Record<string, string>>): number | null {
  return headers['date'] === undefined ? null : (httpDate(headers['date']) ?? NaN)
}

/** The server's clock by its `Date` field if that is plausible, else this machine's. */
export function serverClock(headers: Readonly<Record<string, string>>, now: number): number {
  const time = serverTime(headers)
  return time !== null && Math.abs(time - now) <= FARTHEST_MS ? time : now
}

const TIME = String.raw`(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)`
const HTTP_DATE = new RegExp(
  `^(?:[a-z]{3}, (\\d\\d) [a-z]{3} \\d{4} ${TIME} gmt|[a-z]+, (\\d\\d)-[a-z]{3}-\\d\\d ${TIME} gmt|[a-z]{3} [a-z]{3} ([ \\d]\\d) ${TIME} \\d{4})$`,
  'i',
)

/**
 * IMF-fixdate, RFC 850 date or asctime date as milliseconds since the epoch; undefined
 * for 31 February. The day of the week is ignored.
 */
export function httpDate(field: string): number | undefined {
  const text = field.trim()
  const [, ...days] = HTTP_DATE.exec(text) ?? []
  const day = Number(days.join('')) // only one of the three forms has matched
  const isLeap = text.includes(':60 ') // Date.parse does not accept a leap second
  const time = Date.parse(`${text.replace(':60 ', ':59 ').replace(/ gmt$/i, '')} GMT`)
  if (new Date(time).getUTCDate() !== day) return undefined
  return isLeap ? time + 1000 : time
}

/** A longer hint is a mistake of the server or of its documentation. */
const LONGEST_HINT_MS = MS_PER_DAY

/** From this size on, a number is a point in time; the second value is its unit in milliseconds. */
const EPOCHS: readonly (readonly [number, number])[] = [
  [1e17, 1e-6],
  [1e14, 1e-3],
  [1e11, 1],
  [1e9, 1000],
]

interface ResetContext {
  /** The server's clock, milliseconds since the epoch. */
  readonly serverNow: number
  /** The longest plausible reset in milliseconds: it tells seconds from milliseconds. */
  readonly windowMs?: number | undefined
}

/**
 * Milliseconds until a quota is reset. Servers write a number of seconds or
 * milliseconds from now; a point in time in s, ms, µs or ns (distinguished by size); a
 * duration like `6m0s`; or a date. Undefined for an unreadable or negative value, or
 * one more than a day away; 0 for the past.
 */
export function resetMs(field: string, context: ResetContext): number | undefined {
  const text = field.trim()
  const wait = /^\d+(\.\d+)?$/.test(text)
    ? ofNumber(Number(text), context)
    : (durationMs(text) ?? ofDate(text, context.serverNow))
  return wait === undefined || wait > LONGEST_HINT_MS ? undefined : wait
}

function ofNumber(number: number, { serverNow, windowMs }: ResetContext): number {
  const unit = EPOCHS.find(([from]) => number >= from)?.[1]
  if (unit !== undefined) return Math.max(0, Math.ceil(number * unit - serverNow))
  const isMilliseconds =
    windowMs !== undefined && number * 1000 > windowMs * 1.05 && number <= windowMs * 1.05
  return Math.ceil(isMilliseconds ? number : number * 1000)
}

const UNITS: Readonly<Record<string, number>> = {
  d: MS_PER_DAY,
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
  us: 1e-3,
  µs: 1e-3,
  ns: 1e-6,
}
const PART = String.raw`(\d+(?:\.\d+)?)(d|h|ms|m|s|us|µs|ns)`

function durationMs(text: string): number | undefined {
  if (!new RegExp(`^(?:${PART})+$`).test(text)) return undefined
  let sum = 0
  for (const [, amount, unit] of text.matchAll(new RegExp(PART, 'g'))) {
    sum += Number(amount) * (UNITS[unit ?? ''] ?? 0)
  }
  return Math.ceil(sum)
}

const RFC_3339 = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/

function ofDate(text: string, serverNow: number): number | undefined {
  const at = RFC_3339.test(text) ? Date.parse(text.replace(' ', 'T').toUpperCase()) : httpDate(text)
  return at === undefined || Number.isNaN(at) ? undefined : Math.max(0, at - serverNow)
}

/** One item of a structured list (RFC 9651): its name or number, and its parameters. */
export interface ListItem {
  readonly value: string
  readonly parameters: ReadonlyMap<string, string>
}

const STRING = String.raw`"(?:[^"\\]|\\["\\])*"`
const NUMBER = String.raw`-?\d{1,15}(?:\.\d{1,3})?`
const TOKEN = String.raw`[A-Za-z*][\w!#$%&'*+.^|~:/\x60-]*`
const BYTES = String.raw`:[A-Za-z0-9+/=]*:`
const BARE = `(${STRING}|${NUMBER}|${TOKEN}|${BYTES}|\\?[01])`
const PARAMETER = new RegExp(`; *([a-z*][a-z0-9_.*-]*)(?:=${BARE})?`, 'g')
const ITEM = `${BARE}((?:${PARAMETER.source})*)`
const ITEMS = new RegExp(ITEM, 'g')
const LIST = new RegExp(`^${ITEM}(?:[ \\t]*,[ \\t]*${ITEM})*$`)

/** The items of a list; none if any part of it is malformed (RFC 9651, section 4.2). */
export function parseList(field: string | undefined): ListItem[] {
  const text = field?.trim() ?? ''
  if (!LIST.test(text)) return []
  return [...text.matchAll(ITEMS)].map(([, value = '', parameters = '']) => ({
    value: unquoted(value),
    parameters: new Map(
      [...parameters.matchAll(PARAMETER)].map(([, name = '', own = '?1']) => [name, unquoted(own)]),
    ),
  }))
}

function unquoted(bare: string): string {
  return bare.startsWith('"') ? bare.slice(1, -1).replaceAll(/\\(.)/g, '$1') : bare
}

const MEMBER = /^([a-z]+)=(\d{1,15})(?:;.*)?$/

/** A dictionary of whole numbers, `limit=100, remaining=5`; undefined if malformed. */
export function parseNumbers(field: string): ReadonlyMap<string, number> | undefined {
  const numbers = new Map<string, number>()
  for (const part of field.split(',')) {
    const member = MEMBER.exec(part.trim())
    if (member === null) return undefined
    numbers.set(member[1] ?? '', Number(member[2]))
  }
  return numbers
}
