import { z } from 'zod'
import { freshnessOf, ageText, type Freshness } from '../../lib/days.ts'
import { insertRows, type Database } from '../../lib/duckdb.ts'
import { statement } from '../../lib/package.ts'
import type { BuildContext } from '../shared/context.ts'
import type { CompileOptions } from '../project/compile.ts'
import { labelErrors, placeText } from '../project/errors.ts'
import type { FreshnessRule, Source } from '../project/types.ts'

/** How fresh a table of a source is. Times are milliseconds since the epoch. */
export interface FreshnessResult {
  readonly source: string
  readonly table: string
  /** Null for a table without rows: it is not judged (dbt reports an error). */
  readonly loadedAt: number | null
  readonly checkedAt: number
  readonly rule: FreshnessRule
  readonly status: Freshness
  readonly durationMs: number
}

const loadedRows = z.array(z.object({ ms: z.coerce.number().nullable() }))

/**
 * Computes the age of the newest row of every source table with a freshness rule, writes
 * `meta.source_freshness`, and warns about stale tables. In a build with `--as-of`, the age is that
 * of then.
 *
 * @throws StatementError if DuckDB rejects the freshness query of the yml.
 */
export async function checkFreshness(
  { db, now, emit, asOf }: BuildContext,
  sources: readonly Source[],
  sourceSql: CompileOptions['sourceSql'],
): Promise<FreshnessResult[]> {
  const results: FreshnessResult[] = []
  for (const { name: source, tables } of sources) {
    for (const { name: table, freshness: rule } of tables) {
      if (rule === null) continue
      const checkedAt = now()
      const loadedAt = await newest(db, table, sourceSql(source, table), rule)
      const ageMs = Math.min(checkedAt, asOf ?? Infinity) - (loadedAt ?? Infinity)
      const status = freshnessOf(ageMs, rule)
      const durationMs = now() - checkedAt
      results.push({ source, table, loadedAt, checkedAt, rule, status, durationMs })
      if (status === 'pass') continue
      const message = `source ${source}.${table} is stale: ${ageText(ageMs, rule)}`
      emit({ type: 'warning', message })
    }
  }
  const rows = results.map(({ source, table, loadedAt, checkedAt, rule, status }) => ({
    source_name: source,
    table_name: table,
    loaded_at: loadedAt === null ? null : new Date(loadedAt),
    checked_at: new Date(checkedAt),
    warn_after_seconds: rule.warnAfterSeconds,
    error_after_seconds: rule.errorAfterSeconds,
    status,
  }))
  await db.run(statement('meta/freshness_table'))
  await insertRows(db, 'meta.source_freshness', rows)
  return results
}

async function newest(
  db: Database,
  table: string,
  relation: string,
  { loadedAtField: field, place }: FreshnessRule,
): Promise<number | null> {
  const sql = `select epoch_ms(cast(max(${field}) as timestamptz)) as ms from ${relation}`
  const rows = await labelErrors(`${placeText(place)}: freshness of '${table}'`, () => db.rows(sql))
  return loadedRows.parse(rows)[0]?.ms ?? null
}
