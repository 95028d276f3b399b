import { MS_PER_DAY } from '../../lib/days.ts'
import { httpDate } from './retry-after.ts'

/** A hint that asks for more than a day is a mistake of the server, or of its documentation. */
const LONGEST_HINT_MS = MS_PER_DAY

/** From this size a number is a point in time, in this many parts of a millisecond. */
const EPOCHS: readonly (readonly [number, number])[] = [
  [1e17, 1e-6],
  [1e14, 1e-3],
  [1e11, 1],
  [1e9, 1000],
]

export interface ResetContext {
  /** The server's clock, milliseconds since the epoch. */
  readonly serverNow: number
  /** Times that the reset should not exceed, milliseconds: they distinguish seconds from milliseconds. */
  readonly windowMs?: number | undefined
}

/**
 * How long until a quota is there again, in milliseconds. Servers write a
 * number of seconds or milliseconds from now; a point in time in s, ms, µs or
 * ns (distinguished by size); a duration like `6m0s`; or a date. Undefined for
 * what cannot be read, is negative, or is more than a day away; 0 for the past.
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
