import { identifier, type Database } from '../../lib/duckdb.ts'
import { messageOf } from '../../lib/errors.ts'
import { grouped } from '../../lib/grouped.ts'
import { counted as countText } from '../../lib/text.ts'
import { reportSkipped, type BuildContext, type BuildPlan } from '../shared/context.ts'
import { naming, StatementError } from '../project/errors.ts'
import { storeRows } from './failures.ts'
import {
  missingValuesSql,
  type CheckResult,
  type PlannedCheck,
  type ReferencedColumns,
} from '../shared/checks.ts'
import { createSchemas } from '../shared/relations.ts'
import { runScheduled } from '../shared/schedule.ts'

/**
 * Runs the checks, each in its scope, except those that read a `missing` model, two at a time.
 * Those that may read the replaced intervals run on the first connection, which has them.
 *
 * @returns the results, and the errors of checks that DuckDB rejected.
 */
export async function runChecks(
  context: BuildContext,
  checks: readonly PlannedCheck[],
  { hasRemovedValues, missing, counted }: Found,
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
    name: group[0]?.check ?? '',
    dependsOn: [],
    isPinned: group.some(({ changedSql }) => changedSql !== undefined),
    work: async (db: Database) => {
      context.signal?.throwIfAborted()
      const isUncounted = ({ check }: PlannedCheck) => counted?.has(check) !== true
      const due = group.filter((each) => isUncounted(each) && lackingOf(each).length === 0)
      const counts = typeof rows === 'string' ? await countTogether(context, db, rows, due) : []
      for (const check of group) {
        context.signal?.throwIfAborted()
        const lacking = lackingOf(check)
        if (lacking.length > 0) {
          reportSkipped(context, 'check', check.check, `not built: ${lacking.join(', ')}`)
          continue
        }
        const known = counted?.get(check.check) ?? counts[due.indexOf(check)]
        ended.set(check, await runCheck({ ...context, db }, check, hasRemovedValues, known))
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

/** The rows in which a check counts missing values, if that is all it does. */
function countedRows({ scope, missing }: PlannedCheck): string | undefined {
  if (scope === 'none') return undefined
  return scope === 'all' ? missing?.in : (missing?.inChanged ?? missing?.in)
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
    const message = status === 'pass' ? null : `${countText(failures, 'row')} failed`
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
  return naming(`${check.file}: check '${check.check}'`, async () => {
    const found = check.store_failures ? `from ${await storeRows(db, check)}` : (sql ?? '')
    const { rows } = await db.table(`select count(*) from (${found}\n)`)
    return { failures: Number(rows[0]?.[0]) }
  })
}

/**
 * Counts missing values for all checks of one relation in one pass: a view on the lake is read
 * once, not once per column. No counts if DuckDB rejects the statement: the checks report the error.
 */
async function countTogether(
  { now }: BuildContext,
  db: Database,
  relation: string,
  checks: readonly PlannedCheck[],
): Promise<readonly Count[]> {
  if (checks.length === 0) return []
  const startedAt = now()
  const table = await db.table(missingValuesSql(relation, checks)).catch(() => null)
  const durationMs = Math.round((now() - startedAt) / checks.length)
  return (table?.rows[0] ?? []).map((failures) => ({ failures: Number(failures), durationMs }))
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
