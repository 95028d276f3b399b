import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Cell } from '../../src/lib/duckdb.ts'
import type { Lake } from '../support/lake.ts'

/** A decimal as DuckDB writes it. */
const CREDITS = /^-?\d+\.\d{6}$/

/** Lands the answers of one night: each line between the first and the last is a row, as served. */
export async function land(lake: Lake, input: string, fetched: string): Promise<void> {
  for (const file of await readdir(join(input, fetched))) {
    const text = await readFile(join(input, fetched, file), 'utf8')
    const lines = text.trim().split('\n').slice(1, -1)
    const [, first = '', last = ''] = /"start_date":"(.+?)","end_date":"(.+?)"/.exec(text) ?? []
    for (let day = first; day <= last; day = nextDay(day)) {
      const rows = lines.filter((line) => line.includes(`"date":"${day}"`))
      const items = rows.map((line) => line.replace(/,$/, ''))
      await lake.land(file.replace('.json', ''), day, `${fetched}T05:00:00Z`, items)
    }
  }
}

function nextDay(day: string): string {
  return new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10)
}

/** One line a row, in order: counts as text, doubles to 12 digits. */
export function told(rows: readonly object[]): string[] {
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
