import {
  type Choice,
  type Decimal,
  type Expected,
  type ExpectedRow,
  type ExpectedTable,
  rowKey,
  type Scalar,
} from './table.ts'

/** A row of `agent-warehouse query --format json`. */
export type ActualRow = Readonly<Record<string, unknown>>

const MOST_DIFFERENCES = 20
const RELATIVE_TOLERANCE = 1e-9

/**
 * The differences between a table as it must be and the rows it has, one line
 * each; at most 20 lines, the last of which then counts the rest. None: equal.
 * Integers compare exactly, doubles to 1e-9 of their size, and NULL is not 0.
 */
export function compare(expected: ExpectedTable, actualRows: readonly ActualRow[]): string[] {
  const actual = new Map(actualRows.map((row) => [rowKey(expected.key, row), row]))
  const differences = [
    ...missingColumns(expected, actualRows),
    ...repeated(expected, actualRows),
    ...[...expected.rows.keys()]
      .filter((key) => !actual.has(key))
      .map((key) => `missing row ${key}`),
    ...[...actual].flatMap(([key, row]) => rowDifferences(expected, key, row)),
  ]
  if (differences.length <= MOST_DIFFERENCES) return differences
  const shown = differences.slice(0, MOST_DIFFERENCES - 1)
  return [...shown, `... and ${differences.length - shown.length} more`]
}

function missingColumns(expected: ExpectedTable, rows: readonly ActualRow[]): string[] {
  const [first] = rows
  if (first === undefined) return []
  return expected.columns.filter((name) => !(name in first)).map((name) => `missing column ${name}`)
}

function repeated(expected: ExpectedTable, rows: readonly ActualRow[]): string[] {
  const times = new Map<string, number>()
  for (const row of rows) {
    const key = rowKey(expected.key, row)
    times.set(key, (times.get(key) ?? 0) + 1)
  }
  return [...times].filter(([, count]) => count > 1).map(([key, count]) => `${count} rows ${key}`)
}

function rowDifferences(expected: ExpectedTable, key: string, actual: ActualRow): string[] {
  const row = expected.rows.get(key) ?? expected.optionalRows.get(key)
  if (row === undefined) return [`unexpected row ${key}`]
  return expected.columns
    .filter((name) => name in actual && differs(row, name, actual[name]))
    .map((name) => `${name} of ${key} is ${shown(actual[name])}, not ${wanted(row[name] ?? null)}`)
}

/** A column that an expected row does not mention is left open. */
function differs(row: ExpectedRow, name: string, actual: unknown): boolean {
  const value = row[name]
  if (value === undefined) return false
  return !(isChoice(value) ? value.anyOf : [value]).some((one) => equals(one, actual))
}

function equals(expected: Scalar, actual: unknown): boolean {
  if (typeof expected === 'bigint') return exactInteger(actual) === expected
  if (typeof expected === 'number') return typeof actual === 'number' && isClose(expected, actual)
  if (isDecimal(expected)) return String(actual) === expected.decimal
  return expected === actual
}

/** A number beyond 2^53 may have been rounded on its way: only text is exact there. */
function exactInteger(actual: unknown): bigint | undefined {
  if (typeof actual === 'number' && Number.isSafeInteger(actual)) return BigInt(actual)
  return typeof actual === 'string' && /^-?\d+$/.test(actual) ? BigInt(actual) : undefined
}

function isClose(a: number, b: number): boolean {
  return Math.abs(a - b) <= RELATIVE_TOLERANCE * Math.max(Math.abs(a), Math.abs(b))
}

function isChoice(value: Expected): value is Choice {
  return typeof value === 'object' && value !== null && 'anyOf' in value
}

function isDecimal(value: Scalar): value is Decimal {
  return typeof value === 'object' && value !== null
}

function wanted(value: Expected): string {
  return isChoice(value) ? `one of ${value.anyOf.map(shown).join(', ')}` : shown(value)
}

function shown(value: unknown): string {
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value)
}
