import { CREDITS } from './reading.ts'

const MILLION = 1_000_000n

/** A cell: counts are bigint, ratios number, days `YYYY-MM-DD`. */
export type Scalar = string | bigint | number | boolean | null | Decimal

/** A number with a fraction, exactly. */
export interface Decimal {
  readonly decimal: string
}

/** A cell that the contract leaves open, within what it does say. */
export interface Choice {
  readonly anyOf: readonly Scalar[]
}

export type Expected = Scalar | Choice
export type ExpectedRow = Readonly<Record<string, Expected>>

export interface ExpectedTable {
  /** The columns that name one row. */
  readonly key: readonly string[]
  /** The columns compared, those of the key first; the table may have more. */
  readonly columns: readonly string[]
  /** By `rowKey`. */
  readonly rows: ReadonlyMap<string, ExpectedRow>
  /** Rows that may be left out, but hold these values where they are there. By `rowKey`. */
  readonly optionalRows: ReadonlyMap<string, ExpectedRow>
}

/** Something counted: who or what it belongs to, and its counts. */
export interface Part {
  readonly members: Readonly<Record<string, string | null>>
  readonly counts: Readonly<Record<string, bigint | null>>
}

/** One name for a row: its key's values in order. */
export function rowKey(key: readonly string[], row: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(key.map((column) => plainText(row[column])))
}

/** @throws Error when two rows have one key: the truth itself would be wrong. */
export function expectedTable(
  key: readonly string[],
  others: readonly string[],
  rows: readonly ExpectedRow[],
  optionalRows: readonly ExpectedRow[] = [],
): ExpectedTable {
  return {
    key,
    columns: [...key, ...others],
    rows: keyed(key, rows.map(withCredits)),
    optionalRows: keyed(key, optionalRows.map(withCredits)),
  }
}

/** Credits are added up as millionths, and are integers where they are whole. */
function withCredits(row: ExpectedRow): ExpectedRow {
  const millionths = row[CREDITS]
  if (typeof millionths !== 'bigint') return row
  return { ...row, [CREDITS]: creditsOf(millionths) }
}

function creditsOf(millionths: bigint): bigint | Decimal {
  if (millionths % MILLION === 0n) return millionths / MILLION
  const digits = String(millionths < 0n ? -millionths : millionths).padStart(7, '0')
  const fraction = digits.slice(-6).replace(/0+$/, '')
  return { decimal: `${millionths < 0n ? '-' : ''}${digits.slice(0, -6)}.${fraction}` }
}

/** Adds up the parts that have the same members. NULL only where every part is NULL. */
export function addUp(parts: readonly Part[]): Part[] {
  const sums = new Map<string, Part>()
  for (const part of parts) {
    const key = JSON.stringify(Object.values(part.members))
    const sum = sums.get(key)
    sums.set(key, sum === undefined ? part : { ...part, counts: plus(sum.counts, part.counts) })
  }
  return [...sums.values()]
}

/** The sum, as SQL has it: NULLs are skipped, and nothing but NULLs is NULL. */
export function sum(counts: readonly (bigint | null)[]): bigint | null {
  const known = counts.filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((total, value) => total + value, 0n)
}

/**
 * What a total has beyond the sum of its parts; NULL when it has nothing beyond
 * it, or when there is no total. No parts add up to 0.
 */
export function residual(total: bigint | null, parts: readonly (bigint | null)[]): bigint | null {
  const left = total === null ? 0n : total - (sum(parts) ?? 0n)
  return left > 0n ? left : null
}

/** One of several values; a plain value when all are the same. */
export function anyOf(...values: readonly Scalar[]): Expected {
  const [first = null, ...others] = new Set(values)
  return others.length === 0 ? first : { anyOf: [first, ...others] }
}

function plainText(value: unknown): string | null {
  if (value === null || value === undefined) return null
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function plus(a: Part['counts'], b: Part['counts']): Part['counts'] {
  return Object.fromEntries(
    Object.entries(a).map(([name, value]) => [name, sum([value, b[name] ?? null])]),
  )
}

function keyed(
  key: readonly string[],
  rows: readonly ExpectedRow[],
): ReadonlyMap<string, ExpectedRow> {
  const map = new Map(rows.map((row) => [rowKey(key, row), row]))
  if (map.size !== rows.length)
    throw new Error(`two expected rows have one key (${key.join(', ')})`)
  return map
}
