import { identifier, type Database, type Row } from '../../lib/duckdb.ts'
import { ChecksFailedError, messageOf } from '../../lib/errors.ts'
import { grouped } from '../../lib/grouped.ts'
import { counted } from '../../lib/text.ts'
import { reportSkipped, type BuildContext, type BuildPlan } from '../shared/context.ts'
import { labelErrors, StatementError } from '../project/errors.ts'
import {
  failuresTable,
  type CheckResult,
  type PlannedCheck,
  type ReferencedColumns,
} from '../shared/checks.ts'
import { commentsSql, createSchemas, relationsIn } from '../shared/relations.ts'
import { runScheduled } from '../../lib/concurrency.ts'

/**
 * Runs the checks, each in its scope, except those that read a `missing` model, two at a time.
 * Those that may read the replaced intervals run on the first connection, which has them.
 *
 * @returns the results, and the errors of checks that DuckDB rejected.
 */
export async function runChecks(
  context: BuildContext,
  checks: readonly PlannedCheck[],
  { hasRemovedValues, missing, counted: known }: Found,
) {
  const { db: first, second } = context
  await createSchemas(
    first,
    checks.filter(({ store_failures: isStored }) => isStored),
  )
  const ended = new Map<PlannedCheck, CheckResult | StatementError>()
  const lackingOf = ({ reads }: PlannedCheck) => reads.filter((name) => missing.has(name))
  const groups = grouped(checks, (check) => countedRows(check) ?? check)
  const steps = [...groups].map(([rows, group]) => ({
    name: group[0].check,
    dependsOn: [],
    isPinned: group.some(({ changedSql }) => changedSql !== undefined),
    work: async (db: Database) => {
      context.signal?.throwIfAborted()
      const isUncounted = ({ check }: PlannedCheck) => known?.has(check) !== true
      const due = group.filter((each) => isUncounted(each) && lackingOf(each).length === 0)
      const counts = typeof rows === 'string' ? await countTogether(context, db, rows, due) : []
      for (const check of group) {
        context.signal?.throwIfAborted()
        const lacking = lackingOf(check)
        if (lacking.length > 0) {
          reportSkipped(context, 'check', check.check, `not built: ${lacking.join(', ')}`)
          continue
        }
        const count = known?.get(check.check) ?? counts[due.indexOf(check)]
        ended.set(check, await runCheck({ ...context, db }, check, hasRemovedValues, count))
      }
    },
  }))
  await runScheduled(steps, [first, second], ({ work }, db) => work(db))
  const inOrder = checks.flatMap((check) => ended.get(check) ?? [])
  return {
    results: inOrder.flatMap((each) => (each instanceof StatementError ? [] : each)),
    failures: inOrder.filter((each) => each instanceof StatementError),
  }
}

/** The rows that a check counts in one pass, if it does. */
function countedRows({ scope, count }: PlannedCheck): string | undefined {
  if (scope === 'none') return undefined
  return scope === 'all' ? count?.in : (count?.inChanged ?? count?.in)
}

/** The state before the checks run. */
interface Found {
  readonly hasRemovedValues: HasRemovedValues
  /** Models that could not be built. */
  readonly missing: ReadonlySet<string>
  /** The counts of another engine, or its error, by check. */
  readonly counted?: ReadonlyMap<string, Counted> | undefined
}

export type Counted = Count | StatementError

/** The number of wrong rows, and the time in milliseconds if checks shared a query. */
interface Count {
  readonly failures: number
  readonly durationMs?: number
}

/** `known`: the count, if checks were counted together, or the error of another engine. */
async function runCheck(
  { db, emit, now, report, signal }: BuildContext,
  check: PlannedCheck,
  hasRemovedValues: HasRemovedValues,
  known: Counted | undefined,
): Promise<CheckResult | StatementError> {
  const startedAt = now()
  const outcome = { kind: 'check', name: check.check, startedAt } as const
  try {
    if (known instanceof StatementError) throw known
    const isCounted = known !== undefined && !check.store_failures
    const count = isCounted ? known : await countFailures(db, check, hasRemovedValues)
    const { failures, durationMs = now() - startedAt } = count
    const { check: name, severity } = check
    emit({ type: 'check.finished', check: name, severity, failures, durationMs })
    const status = failures === 0 ? 'pass' : severity === 'error' ? 'fail' : 'warn'
    const message = status === 'pass' ? null : `${counted(failures, 'row')} failed`
    report({ ...outcome, status, durationMs, message, failures })
    return { ...check, failures, durationMs, status }
  } catch (error) {
    const [durationMs, message] = [now() - startedAt, messageOf(error)]
    report({ ...outcome, status: 'error', durationMs, message })
    signal?.throwIfAborted()
    if (error instanceof StatementError) return error
    throw error
  }
}

async function countFailures(
  db: Database,
  check: PlannedCheck,
  hasRemovedValues: HasRemovedValues,
): Promise<Count> {
  const { scope, reference, changedSql } = check
  const isWhole =
    scope === 'all' ||
    (scope !== 'none' && reference !== undefined && (await hasRemovedValues(reference)))
  const sql = isWhole ? check.sql : scope === 'changed' ? changedSql : undefined
  if (scope === 'none' || (sql === undefined && !check.store_failures)) {
    return { failures: 0, durationMs: 0 }
  }
  return labelErrors(`${check.file}: check '${check.check}'`, async () => {
    const found = check.store_failures ? `from ${await storeRows(db, check)}` : (sql ?? '')
    const { rows } = await db.table(`select count(*) from (${found}\n)`)
    return { failures: Number(rows[0]?.[0]) }
  })
}

/**
 * Counts the wrong rows for all checks of one relation in one pass: a view on the lake is read once,
 * not once per check. No count if a check must count itself, or DuckDB rejects the statement: the
 * checks report the error.
 */
async function countTogether(
  { now }: BuildContext,
  db: Database,
  relation: string,
  checks: readonly PlannedCheck[],
): Promise<readonly (Count | undefined)[]> {
  if (checks.length === 0) return []
  const startedAt = now()
  const counts = checks.map(({ count }) => count?.of ?? 'null').join(', ')
  const table = await db.table(`select ${counts} from ${relation}`).catch(() => null)
  const durationMs = Math.round((now() - startedAt) / checks.length)
  return (table?.rows[0] ?? []).map((value, index) => {
    const failures = Number(value)
    const isKnown = failures === 0 || checks[index]?.count?.isExact === true
    return isKnown ? { failures, durationMs } : undefined
  })
}

/** Whether values disappeared, or may have disappeared, from the columns. */
type HasRemovedValues = (reference: ReferencedColumns) => Promise<boolean>

/** Saves the values that passed checks refer to, before the tables with them are built again. */
export async function watchReferences(
  db: Database,
  { checks, relations }: Pick<BuildPlan, 'checks' | 'relations'>,
): Promise<HasRemovedValues> {
  const selectOf = ({ relation, columns }: ReferencedColumns): string =>
    `select distinct ${columns.map(identifier).join(', ')} from ${relation}`
  const published = new Map<string, string>()
  for (const { scope, reference } of checks) {
    if (scope === 'all' || scope === 'none' || reference === undefined) continue
    const select = selectOf(reference)
    if (published.has(select) || relations.get(reference.relation)?.kind !== 'table') continue
    const before = `published_values_${String(published.size)}`
    published.set(select, before)
    await db.run(`create temp table ${before} as ${select}`)
  }
  return async (reference) => {
    const select = selectOf(reference)
    const before = published.get(select)
    if (before === undefined) return true
    const { rows } = await db.table(
      `select count(*) from (select * from ${before} except ${select})`,
    )
    return rows[0]?.[0] !== '0'
  }
}

/** Examples of the wrong rows of each failed check, by its name. */
export type Examples = ReadonlyMap<string, readonly Row[]>

const EXAMPLES = 3
const LISTED_CHECKS = 3

async function storeRows(db: Database, check: PlannedCheck): Promise<string> {
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
