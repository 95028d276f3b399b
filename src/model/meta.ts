import type { Database } from '../store/duckdb.ts'
import { statement } from '../store/root.ts'
import type { CheckResult } from './checks.ts'
import type { ModelNode } from './types.ts'

/** Makes `meta.check_results` and `meta.columns`, with their comments. */
export async function createMeta(db: Database): Promise<void> {
  await db.run(statement('meta/build_tables'))
}

/**
 * Writes what came of the checks. Results of earlier builds stay for models
 * that this one did not touch. `checkedAt` in milliseconds since the epoch.
 */
export async function writeCheckResults(
  db: Database,
  results: readonly CheckResult[],
  runId: string,
  checkedAt: number,
): Promise<void> {
  const rows = JSON.stringify(
    results.map((result) => ({
      run_id: runId,
      check_name: result.check,
      model: result.model,
      column_name: result.column,
      severity: result.severity,
      status: result.status,
      failures: result.failures,
      query: result.sql,
      checked_at: new Date(checkedAt).toISOString(),
    })),
  )
  await db.rows(statement('meta/check_results_forget'), { rows })
  await db.rows(statement('meta/check_results'), { rows })
}

/** Writes the catalogue of columns; to be called last, when every table is there. */
export async function writeColumns(db: Database, models: readonly ModelNode[]): Promise<void> {
  const rows = models.flatMap((model) =>
    model.columns.map((column) => ({
      table_schema: model.schema,
      table_name: model.name,
      column_name: column.name,
      additivity: column.additivity,
    })),
  )
  await db.rows(statement('meta/columns'), { rows: JSON.stringify(rows) })
}
