import { literal, type Value } from '../lib/duckdb.ts'
import { FORMULA } from './spreadsheet.ts'

const NUMBERS = /^(?:U?(?:TINY|SMALL|BIG|HUGE)INT|U?INTEGER|BIGNUM|DOUBLE|FLOAT|DECIMAL\(.*\))$/
const TIMESTAMPS = /^TIMESTAMP(?:_S|_MS|_NS| WITH TIME ZONE)?$/

/** True for DuckDB's name of a type of numbers, which are never quoted or escaped. */
export function isNumeric(type: string): boolean {
  return NUMBERS.test(type)
}

export function isTimestamp(type: string): boolean {
  return TIMESTAMPS.test(type)
}

/** A decimal with this many significant digits survives the conversion to a double and back. */
const EXACT_DIGITS = 15

/**
 * A cell as JSON. Integers beyond 2^53 - 1 are strings, because most readers store
 * numbers as doubles; so are decimals that a double does not represent exactly. NaN and
 * the infinities are null, because JSON cannot spell them. Dates are `YYYY-MM-DD`,
 * timestamps ISO 8601 in UTC, intervals ISO 8601 durations. A union is its value.
 */
export function jsonText(cell: Value): string {
  if (typeof cell === 'bigint') return jsonInteger(String(cell))
  if (typeof cell !== 'object' || cell === null) return JSON.stringify(cell)
  if ('items' in cell) return `[${cell.items.map(jsonText).join(',')}]`
  if ('entries' in cell) return jsonObject(cell)
  if ('scale' in cell) return jsonDecimal(cellText(cell))
  return 'value' in cell ? jsonText(cell.value) : JSON.stringify(cellText(cell))
}

/** A cell as text: numbers exact and without trailing zeros, timestamps in ISO 8601, nested values as JSON. */
export function cellText(cell: NonNullable<Value>): string {
  if (typeof cell !== 'object' || 'bytes' in cell) return String(cell)
  if ('months' in cell) return isoDuration(cell)
  if ('scale' in cell) return withoutZeros(String(cell))
  if ('items' in cell || 'entries' in cell || 'tag' in cell) return jsonText(cell)
  if ('value' in cell) return cell.value === null ? 'null' : cellText(cell.value) // of a VARIANT
  return String(cell).replace(SPELLED_TIMESTAMP, '$1T$2Z')
}

function jsonInteger(digits: string): string {
  return Number.isSafeInteger(Number(digits)) ? digits : JSON.stringify(digits)
}

/** `shortest`: as DuckDB spells a decimal, e.g. `-0.5`: always a digit before the point. */
function jsonDecimal(shortest: string): string {
  if (!shortest.includes('.')) return jsonInteger(shortest)
  const significant = shortest.replace(/^-?[0.]*/, '').replace('.', '')
  return significant.length <= EXACT_DIGITS ? shortest : JSON.stringify(shortest)
}

/** A decimal without trailing zeros after the point. */
function withoutZeros(digits: string): string {
  return digits.includes('.') ? digits.replace(/\.?0+$/, '') : digits
}

/** The members of a struct by name, or the entries of a map. */
function jsonObject({ entries }: Extract<Value, { entries: unknown }>): string {
  const members = Array.isArray(entries)
    ? entries.map(({ key, value }) => [key === null ? 'null' : cellText(key), value] as const)
    : Object.entries(entries)
  return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${jsonText(value)}`).join(',')}}`
}

/** `2026-01-14 01:02:03.5` or `… 01:02:03.5+00`; infinities and years BC stay as they are. */
const SPELLED_TIMESTAMP = /^(\d{4,}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)(?:\+00)?$/

/** Months, days and seconds stay separate, as in DuckDB: `P1M-3DT7200.5S`. */
function isoDuration({ months, days, micros }: Extract<Value, { months: unknown }>): string {
  const size = micros < 0n ? -micros : micros
  const fraction = String(size % 1_000_000n)
    .padStart(6, '0')
    .replace(/0+$/, '')
  const seconds = `${micros < 0n ? '-' : ''}${size / 1_000_000n}${fraction && `.${fraction}`}`
  return `P${months}M${days}DT${seconds}S`
}

/** The SQL of `defused`. */
export function defusedSql(expression: string): string {
  const runs = `regexp_matches(${expression}, ${literal(FORMULA)})`
  return `case when ${runs} then '''' || ${expression} else ${expression} end`
}
