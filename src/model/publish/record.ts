import type { Database } from '../../lib/duckdb.ts'
import type { IntervalRow } from '../../lake/intervals.ts'
import { statement, fill } from '../../lib/package.ts'
import { insertRows } from './meta.ts'

/** One run, for `meta.runs`. Times are ISO 8601, UTC; counts are of resource days. */
export interface RunRow {
  readonly run_id: string
  readonly command: string
  readonly version: string
  readonly status: string
  readonly exit_code: number | null
  readonly started_at: string
  readonly finished_at: string | null
  readonly days_landed: number
  readonly days_empty: number
  readonly days_unchanged: number
  readonly days_failed: number
  readonly requests: number
}

/** What a warehouse was built from. Times are milliseconds since the epoch. */
export interface Provenance {
  readonly runId: string
  readonly builtAt: number
  /** The moment whose knowledge it holds; null: all that has landed. */
  readonly asOf: number | null
}

/** Writes the pipeline's own record: `meta.intervals`, `meta.runs` and `meta.build`. */
export async function writeRecord(
  db: Database,
  intervals: readonly IntervalRow[],
  runs: readonly RunRow[],
  { runId, builtAt, asOf }: Provenance,
): Promise<void> {
  await db.run(statement('meta/record_tables'))
  const days = intervals.map(({ day, ...row }) => ({ activity_date: day, ...inSnakeCase(row) }))
  await insertRows(db, 'meta.intervals', days)
  await insertRows(db, 'meta.runs', runs)
  const known = asOf === null ? null : new Date(asOf)
  await insertRows(db, 'meta.build', [{ run_id: runId, built_at: new Date(builtAt), as_of: known }])
}

/** Writes `meta.schema_drift` into the warehouse, from the base entity behind `source` (SQL). */
export async function writeSchemaDrift(db: Database, source: string): Promise<void> {
  await db.run(fill(statement('meta/schema_drift'), { source }))
}

function inSnakeCase(row: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value as unknown,
    ]),
  )
}
