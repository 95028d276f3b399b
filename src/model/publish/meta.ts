import type { Database } from '../../lib/duckdb.ts'
import { statement, fill } from '../../lib/package.ts'
import { keyOf } from '../build/build.ts'
import type { CheckResult } from '../checks/checks.ts'
import { ENGINE } from '../engines/duckdb.ts'
import type { ModelNode } from '../project/types.ts'
import type { BuildPlan } from '../build/plan.ts'

/** Makes `meta.check_results`, `meta.models` and `meta.columns`, with their comments. */
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

/** Writes what the selected models were made by; the others have the record of an earlier build. */
export async function writeModels(
  db: Database,
  { selected, madeBy, unitTestDigests }: Pick<BuildPlan, 'selected' | 'madeBy' | 'unitTestDigests'>,
  runId: string,
): Promise<void> {
  const rows = JSON.stringify(
    selected.map(({ schema, name, materialized }) => ({
      table_schema: schema,
      model: name,
      materialized,
      run_id: runId,
      made_by: madeBy.get(name)?.own,
      fingerprint: madeBy.get(name)?.whole,
      content: madeBy.get(name)?.content ?? null,
      unit_tests: unitTestDigests.get(name) ?? null,
    })),
  )
  await db.rows(statement('meta/models_forget'), { rows })
  await db.rows(fill(statement('meta/models'), { engine: ENGINE }), { rows })
}

/** Writes the catalogue of columns; to be called last, when every table is there. */
export async function writeColumns(db: Database, models: readonly ModelNode[]): Promise<void> {
  const rows = models.flatMap((model) => {
    const key = keyOf(model)
    return model.columns.map(({ name, additivity }) => ({
      table_schema: model.schema,
      table_name: model.name,
      column_name: name,
      additivity,
      key_position: key.includes(name) ? key.indexOf(name) + 1 : null,
    }))
  })
  await db.rows(statement('meta/columns'), { rows: JSON.stringify(rows) })
}
