import type { Database } from '../../lib/duckdb.ts'
import { statement, fill } from '../../lib/package.ts'

/** What a warehouse was built from. Times are milliseconds since the epoch. */
export interface Provenance {
  readonly runId: string
  readonly builtAt: number
  /** The moment whose knowledge it holds; null: all that has landed. */
  readonly asOf: number | null
}

/** Writes `meta.build` into the warehouse. */
export async function writeProvenance(
  database: Database,
  { runId, builtAt, asOf }: Provenance,
): Promise<void> {
  const row = {
    run_id: runId,
    built_at: new Date(builtAt).toISOString(),
    as_of: asOf === null ? null : new Date(asOf).toISOString(),
  }
  await database.rows(statement('meta/build'), { rows: JSON.stringify([row]) })
  await database.run(statement('meta/build_comments'))
}

/** Writes `meta.schema_drift` into the warehouse, from the base entity behind `source` (SQL). */
export async function writeSchemaDrift(database: Database, source: string): Promise<void> {
  await database.run(fill(statement('meta/schema_drift'), { source }))
  await database.run(statement('meta/schema_drift_comments'))
}
