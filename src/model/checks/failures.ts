import { ChecksFailedError } from '../../lib/errors.ts'
import type { Database, Row } from '../../lib/duckdb.ts'
import { counted } from '../../lib/text.ts'
import { commentsSql, createSchemas, relationsIn } from '../shared/relations.ts'
import { failuresTable, type CheckResult, type PlannedCheck } from '../shared/checks.ts'

/** Examples of the wrong rows of each failed check, by its name. */
type Examples = ReadonlyMap<string, readonly Row[]>

const EXAMPLES = 3
const LISTED_CHECKS = 3

export async function storeRows(db: Database, check: PlannedCheck): Promise<string> {
  const relation = failuresTable(check)
  await createSchemas(db, [check])
  await db.run(`create or replace table ${relation} as ${check.sql}`)
  const { columns } = await db.table(`from ${relation} limit 0`)
  await db.run(
    commentsSql({
      materialized: 'table',
      relation,
      description: `Rows that fail the check ${check.check}.`,
      columns: columns.map((name) => ({ name, description: 'As reported by the check.' })),
    }),
  )
  return relation
}

/**
 * Stores the rows of failed checks, whose file is not published, and returns some of them. A check
 * with `store_failures` has stored its own when it ran.
 */
export async function storeFailures(
  db: Database,
  results: readonly CheckResult[],
): Promise<Examples> {
  const examples = new Map<string, readonly Row[]>()
  for (const result of results.filter(({ status }) => status === 'fail')) {
    const relation = result.store_failures ? failuresTable(result) : await storeRows(db, result)
    examples.set(result.check, await db.rows(`from ${relation} limit ${String(EXAMPLES)}`))
  }
  return examples
}

export async function forgetFailures(db: Database): Promise<void> {
  const failed = await db.rows(`select check_name from meta.check_results where status = 'fail'`)
  const names = new Set(failed.map((row) => row['check_name']))
  for (const [relation, { sql, kind }] of await relationsIn(db)) {
    if (names.has(relation.split('.')[1] ?? '')) await db.run(`drop ${kind} ${sql}`)
  }
  await db.run(`delete from meta.check_results where status = 'fail'`)
}

/**
 * The error for failed checks, if any failed: their names and rows. `failedFile` is the file that
 * was not published, which has all rows; without it, the query of each check stands there.
 */
export function failedChecks(
  results: readonly CheckResult[],
  examples: Examples,
  failedFile: string | undefined,
): ChecksFailedError[] {
  const failed = results.filter((result) => result.status === 'fail')
  if (failed.length === 0) return []
  const listed = failed.slice(0, LISTED_CHECKS)
  const names = listed.map(({ check, failures }) => `${check} (${counted(failures, 'row')})`)
  const rest = failed.length - listed.length
  const more = rest > 0 ? `, and ${String(rest)} more` : ''
  const count = failed.length === 1 ? 'a check' : `${String(failed.length)} checks`
  const hint = [
    'The failing rows:',
    ...listed.map((result) => checkText(result, examples.get(result.check) ?? [], failedFile)),
  ].join('\n')
  return [new ChecksFailedError(`${count} failed: ${names.join(', ')}${more}`, { hint })]
}

function checkText(
  result: CheckResult,
  rows: readonly Row[],
  failedFile: string | undefined,
): string {
  const { check, failures, sql } = result
  const where = failedFile === undefined ? '' : `, in ${failuresTable(result)} of that file`
  return [
    `-- ${check}: ${counted(failures, 'row')}${where}`,
    ...rows.map((row) => `--   ${JSON.stringify(row)}`),
    ...(failures > rows.length ? ['--   …'] : []),
    ...(failedFile === undefined ? [`${sql};`] : []),
  ].join('\n')
}
