import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Cell } from '../../src/lib/duckdb.ts'

/** A decimal as DuckDB writes it. */
const CREDITS = /^-?\d+\.\d{6}$/

/** The words with which the comment of a ready-made question says that it may have no answer. */
export const MAY_BE_EMPTY = /\bThe result is empty if /

/** One line per row, sorted: counts as text, doubles to 12 digits. */
export function linesOf(rows: readonly object[]): string[] {
  return rows
    .map((row) => JSON.stringify(Object.entries(row).sort(byName).map(cell)))
    .sort()
}

type Entry = [name: string, value: Cell]

function byName([a]: Entry, [b]: Entry): number {
  return a < b ? -1 : 1
}

function cell([name, value]: Entry): unknown {
  if (typeof value === 'bigint') return [name, String(value)]
  if (typeof value === 'string' && CREDITS.test(value)) return [name, value.replace(/\.?0+$/, '')]
  if (typeof value !== 'number') return [name, value]
  return [name, Number.isSafeInteger(value) ? String(value) : String(Number(value.toPrecision(12)))]
}

export async function rowsIn(folder: string, table: string): Promise<object[]> {
  const text = await readFile(join(folder, `${table}.ndjson`), 'utf8')
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line) as object)
}
