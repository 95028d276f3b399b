import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import type { Cell, Row } from '../../src/lib/duckdb.ts'
import { packageRoot } from '../../src/lib/package.ts'
import { listAnalyses } from '../../src/serve/query.ts'
import { folderOfFile } from '../support/folders.ts'

/** A decimal as DuckDB writes it. */
const CREDITS = /^-?\d+\.\d{6}$/

/** The words with which the comment of a ready-made question says that it may have no rows. */
const MAY_BE_EMPTY = /\bThe result is empty if /

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

/**
 * The ready-made questions that the warehouse does not answer; the comment of each says why it may
 * be empty. `ask` reads the warehouse.
 */
export async function unansweredBy(ask: (sql: string) => Promise<Row[]>): Promise<string[]> {
  const empty: string[] = []
  for (const { name, notes, sql } of listAnalyses()) {
    if ((await ask(sql)).length > 0) continue
    expect(notes, name).toMatch(MAY_BE_EMPTY)
    empty.push(name)
  }
  return empty
}

/** Verifies that the expected rows of a case are those that the script prints for it. */
export async function expectPrinted(script: string, name: string): Promise<void> {
  const path = join(packageRoot, 'test', 'golden', 'script', script)
  const [printed, expected] = [await folderOfFile(), join(packageRoot, 'test/golden', name, 'expected')]
  await promisify(execFile)(process.execPath, [path, name, printed])
  const files = await readdir(expected)
  expect((await readdir(printed)).sort()).toEqual(files.sort())
  for (const file of files) {
    const table = file.replace('.ndjson', '')
    expect(await rowsIn(printed, table)).toEqual(await rowsIn(expected, table))
  }
}

export async function rowsIn(folder: string, table: string): Promise<object[]> {
  const text = await readFile(join(folder, `${table}.ndjson`), 'utf8')
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line) as object)
}
