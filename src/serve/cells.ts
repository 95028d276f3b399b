import { type Cell, literal } from '../lib/duckdb.ts'
import { FORMULA } from './spreadsheet.ts'

/** How cells of a DuckDB type arrive in a `Table`, which decides how they are written. */
export type ColumnType =
  | { readonly kind: 'integer' | 'decimal' | 'float' }
  | { readonly kind: 'boolean' | 'timestamp' | 'interval' | 'text' }
  | { readonly kind: 'list'; readonly item: ColumnType }
  | { readonly kind: 'map'; readonly key: ColumnType; readonly value: ColumnType }
  | { readonly kind: 'struct' | 'union'; readonly members: ReadonlyMap<string, ColumnType> }

const TEXT: ColumnType = { kind: 'text' }

const INTEGERS = /^(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|BIGNUM)$/
const TIMESTAMPS = /^TIMESTAMP(_S|_MS|_NS| WITH TIME ZONE)?$/

/** Quoted names and labels, brackets and commas, and the rest between them. */
const TOKENS = /"(?:""|[^"])*"|'(?:''|[^'])*'|[(),]|[^"'(),]+/g

/**
 * Parses DuckDB's name of a type, also of a nested one such as
 * `STRUCT("day" DATE, "counts" BIGINT[])[]`. An unknown type is text.
 */
export function columnType(name: string): ColumnType {
  const item = /^(.*)\[\d*\]$/s.exec(name)?.[1]
  if (item !== undefined) return { kind: 'list', item: columnType(item) }
  const [, outer, inner] = /^(STRUCT|UNION|MAP)\((.*)\)$/s.exec(name) ?? []
  if (outer !== undefined && inner !== undefined) return nestedType(outer, inner)
  return scalarType(name)
}

/** True for numbers, which are never quoted or escaped. */
export function isNumeric(type: ColumnType): boolean {
  return type.kind === 'integer' || type.kind === 'decimal' || type.kind === 'float'
}

function nestedType(outer: string, inner: string): ColumnType {
  const parts = topLevelParts(inner)
  if (outer === 'MAP') {
    const [key = '', value = ''] = parts
    return { kind: 'map', key: columnType(key), value: columnType(value) }
  }
  return { kind: outer === 'UNION' ? 'union' : 'struct', members: new Map(parts.map(member)) }
}

function scalarType(name: string): ColumnType {
  if (INTEGERS.test(name)) return { kind: 'integer' }
  if (name.startsWith('DECIMAL')) return { kind: 'decimal' }
  if (name === 'DOUBLE' || name === 'FLOAT') return { kind: 'float' }
  if (name === 'BOOLEAN') return { kind: 'boolean' }
  if (TIMESTAMPS.test(name)) return { kind: 'timestamp' }
  if (name === 'INTERVAL') return { kind: 'interval' }
  return TEXT
}

function member(text: string): [string, ColumnType] {
  const [, name = '', type = ''] = /^"((?:""|[^"])*)" (.*)$/s.exec(text) ?? []
  return [name.replaceAll('""', '"'), columnType(type)]
}

function topLevelParts(text: string): string[] {
  const parts = ['']
  let depth = 0
  for (const [token] of text.matchAll(TOKENS)) {
    if (token === '(') depth += 1
    if (token === ')') depth -= 1
    if (token === ',' && depth === 0) parts.push('')
    else parts.push((parts.pop() ?? '') + token)
  }
  return parts.map((part) => part.trim())
}

/** A decimal with this many significant digits survives the conversion to a double and back. */
const EXACT_DIGITS = 15

/**
 * A cell as JSON. Integers beyond 2^53 - 1 are strings, because most readers store
 * numbers as doubles; so are decimals that a double does not represent exactly. NaN and
 * the infinities are null, because JSON cannot spell them. Dates are `YYYY-MM-DD`,
 * timestamps ISO 8601 in UTC, intervals ISO 8601 durations.
 */
export function jsonText(cell: Cell, type: ColumnType): string {
  if (cell === null) return 'null'
  switch (type.kind) {
    case 'integer':
      return jsonInteger(scalarText(cell))
    case 'decimal':
      return jsonDecimal(scalarText(cell))
    case 'float':
      return typeof cell === 'number' ? JSON.stringify(cell) : 'null'
    case 'timestamp':
    case 'interval':
      return JSON.stringify(cellText(cell, type))
    case 'list':
      if (!isList(cell)) break
      return `[${cell.map((each) => jsonText(each, type.item)).join(',')}]`
    case 'map':
      if (!isList(cell)) break
      return jsonMap(cell, type.key, type.value)
    case 'struct': {
      if (!isObject(cell)) break
      const members = [...type.members].map(
        ([name, member]) => `${JSON.stringify(name)}:${jsonText(cell[name] ?? null, member)}`,
      )
      return `{${members.join(',')}}`
    }
    case 'union': {
      if (!isObject(cell)) break
      // unions arrive as `{ tag, value }`, and become the value
      const member = type.members.get(scalarText(cell['tag'] ?? null)) ?? TEXT
      return jsonText(cell['value'] ?? null, member)
    }
    case 'boolean':
    case 'text':
  }
  return JSON.stringify(cell)
}

/** A cell as text: numbers exact and without trailing zeros, timestamps in ISO 8601, nested values as JSON. */
export function cellText(cell: NonNullable<Cell>, type: ColumnType): string {
  if (type.kind === 'timestamp') return scalarText(cell).replace(SPELLED_TIMESTAMP, '$1T$2Z')
  if (type.kind === 'interval') return isoDuration(cell)
  if (type.kind === 'decimal') return withoutZeros(scalarText(cell))
  return typeof cell === 'object' ? jsonText(cell, type) : String(cell)
}

function jsonInteger(digits: string): string {
  return Number.isSafeInteger(Number(digits)) ? digits : JSON.stringify(digits)
}

/** `digits` as DuckDB spells a decimal, e.g. `-0.500`: always a digit before the point. */
function jsonDecimal(digits: string): string {
  const shortest = withoutZeros(digits)
  if (!shortest.includes('.')) return jsonInteger(shortest)
  const significant = shortest.replace(/^-?[0.]*/, '').replace('.', '')
  return significant.length <= EXACT_DIGITS ? shortest : JSON.stringify(shortest)
}

/** A decimal without trailing zeros after the point. */
function withoutZeros(digits: string): string {
  return digits.includes('.') ? digits.replace(/\.?0+$/, '') : digits
}

/** Maps arrive as lists of `{ key, value }`, and become objects. */
function jsonMap(cell: readonly Cell[], key: ColumnType, value: ColumnType): string {
  const members = cell.filter(isObject).map((entry) => {
    const name = entry['key'] ?? null
    const text = name === null ? 'null' : cellText(name, key)
    return `${JSON.stringify(text)}:${jsonText(entry['value'] ?? null, value)}`
  })
  return `{${members.join(',')}}`
}

/** `2026-01-14 01:02:03.5` or `… 01:02:03.5+00`; infinities and years BC stay as they are. */
const SPELLED_TIMESTAMP = /^(\d{4,}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)(?:\+00)?$/

/** Months, days and seconds stay separate, as in DuckDB: `P1M-3DT7200.5S`. */
function isoDuration(cell: NonNullable<Cell>): string {
  if (!isObject(cell)) return scalarText(cell)
  const { months = 0, days = 0, micros = 0 } = cell
  const total = BigInt(scalarText(micros))
  const size = total < 0n ? -total : total
  const fraction = String(size % 1_000_000n)
    .padStart(6, '0')
    .replace(/0+$/, '')
  const seconds = `${total < 0n ? '-' : ''}${size / 1_000_000n}${fraction && `.${fraction}`}`
  return `P${scalarText(months)}M${scalarText(days)}DT${seconds}S`
}

function scalarText(cell: Cell): string {
  return typeof cell === 'object' ? JSON.stringify(cell) : String(cell)
}

function isList(cell: Cell): cell is readonly Cell[] {
  return Array.isArray(cell)
}

function isObject(cell: Cell): cell is { readonly [key: string]: Cell } {
  return typeof cell === 'object' && cell !== null && !isList(cell)
}

/** The SQL of `defused`. */
export function defusedSql(expression: string): string {
  const runs = `regexp_matches(${expression}, ${literal(FORMULA)})`
  return `case when ${runs} then '''' || ${expression} else ${expression} end`
}
