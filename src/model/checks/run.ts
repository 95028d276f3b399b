import { allOrThrow } from '../../lib/concurrency.ts'
import { identifier, type Database } from '../../lib/duckdb.ts'
import { messageOf } from '../../lib/errors.ts'
import { grouped } from '../../lib/grouped.ts'
import { reportSkipped, type BuildContext, type BuildPlan } from '../shared/context.ts'
import { StatementError } from '../project/errors.ts'
import type { TestSettings } from '../project/types.ts'
import { createSchemas, storeRows } from './failures.ts'
import type { CheckResult, CheckStatus, PlannedCheck, ReferencedColumns } from '../shared/checks.ts'

interface CheckedModels {
  readonly results: readonly CheckResult[]
  /** Checks that DuckDB rejected, with its messages. */
  readonly failures: readonly StatementError[]
}

/**
 * Runs the checks, each in its scope, except those that read a `missing` model, two at a time.
 * Those that may read the replaced intervals run on the first connection, which has them.
 */
export async function runChecks(
  context: BuildContext,
  checks: readonly PlannedCheck[],
  { hasRemovedValues, missing, counted }: Found,
): Promise<CheckedModels> {
  await createSchemas(context.db, checks)
  const results = new Map<PlannedCheck, CheckResult>()
  const failures = new Map<PlannedCheck, StatementError>()
  const lackingOf = ({ reads }: PlannedCheck) => reads.filter((name) => missing.has(name))
  const countsIn = (db: Database, own: readonly PlannedCheck[]) => {
    const runnable = own.filter((check) => lackingOf(check).length === 0)
    const uncounted = runnable.filter(({ check }) => counted?.has(check) !== true)
    return countMissingValues({ ...context, db }, uncounted)
  }
  const run = async (db: Database, check: PlannedCheck, counts: Counts): Promise<void> => {
    context.signal?.throwIfAborted()
    const lacking = lackingOf(check)
    if (lacking.length > 0) {
      reportSkipped(context, 'check', check.check, `not built: ${lacking.join(', ')}`)
      return
    }
    try {
      const count = () => {
        const known = counted?.get(check.check) ?? counts.get(check)
        if (known instanceof StatementError) throw known
        if (known !== undefined && !check.store_failures) return known
        return countFailures(db, check, hasRemovedValues)
      }
      results.set(check, await runCheck(context, check, count))
    } catch (error) {
      context.signal?.throwIfAborted()
      if (!(error instanceof StatementError)) throw error
      failures.set(check, error)
    }
  }
  const readsChangedRows = ({ changedSql }: PlannedCheck): boolean => changedSql !== undefined
  const ofChanges = checks.filter(readsChangedRows)
  const others = checks.filter((check) => !readsChangedRows(check))
  const countsOfOthers = countsIn(context.second, others)
  const left = others.values() // both connections take from it
  const runLeft = async (db: Database): Promise<void> => {
    const counts = await countsOfOthers
    for (const check of left) await run(db, check, counts)
  }
  const runOfChanges = async (db: Database): Promise<void> => {
    const counts = await countsIn(db, ofChanges)
    for (const check of ofChanges) await run(db, check, counts)
  }
  await allOrThrow([
    runOfChanges(context.db).then(() => runLeft(context.db)),
    runLeft(context.second),
  ])
  return {
    results: checks.flatMap((check) => results.get(check) ?? []),
    failures: checks.flatMap((check) => failures.get(check) ?? []),
  }
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

type Counts = ReadonlyMap<PlannedCheck, Count>

/** The number of wrong rows, and the time in milliseconds if checks shared a query. */
interface Count {
  readonly failures: number
  readonly durationMs?: number
}

async function runCheck(
  { emit, now, report }: BuildContext,
  check: PlannedCheck,
  count: () => Count | Promise<Count>,
): Promise<CheckResult> {
  const startedAt = now()
  const outcome = { kind: 'check', name: check.check, startedAt } as const
  try {
    const { failures, durationMs = now() - startedAt } = await count()
    const status = statusOf(check, failures)
    emit({
      type: 'check.finished',
      check: check.check,
      severity: status === 'warn' ? 'warn' : check.severity,
      failures: status === 'pass' ? 0 : failures,
      durationMs,
    })
    const message = status === 'pass' ? null : `${String(failures)} rows failed`
    report({ ...outcome, status, durationMs, message, failures })
    return { ...check, failures, durationMs, status }
  } catch (error) {
    const [durationMs, message] = [now() - startedAt, messageOf(error)]
    report({ ...outcome, status: 'error', durationMs, message, failures: null })
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
  try {
    const found = check.store_failures ? `from ${await storeRows(db, check)}` : (sql ?? '')
    const { rows } = await db.table(`select count(*) from (${found}\n)`)
    return { failures: Number(rows[0]?.[0]) }
  } catch (error) {
    throw StatementError.of(`${check.file}: check '${check.check}'`, error)
  }
}

/**
 * Counts missing values for all checks of one relation in one pass: a view on the lake is read
 * once, not once per column. A count that DuckDB rejects is left out, because the check itself
 * reports the error.
 */
async function countMissingValues(
  { db, now, signal }: BuildContext,
  checks: readonly PlannedCheck[],
): Promise<Counts> {
  const due = checks.filter(({ scope }) => scope !== 'none')
  const groups = grouped(due, ({ missing, scope }) =>
    scope === 'all' ? missing?.in : (missing?.inChanged ?? missing?.in),
  )
  const counts = new Map<PlannedCheck, Count>()
  for (const [relation, group] of groups) {
    if (relation === undefined) continue
    signal?.throwIfAborted()
    const columns = group.map(({ column }) => `count(*) - count(${identifier(column ?? '')})`)
    const startedAt = now()
    const table = await db.table(`select ${columns.join(', ')} from ${relation}`).catch(() => null)
    const durationMs = Math.round((now() - startedAt) / group.length)
    for (const [index, failures] of (table?.rows[0] ?? []).entries()) {
      const check = group[index]
      if (check !== undefined) counts.set(check, { failures: Number(failures), durationMs })
    }
  }
  return counts
}

function statusOf({ severity, error_if, warn_if }: TestSettings, failures: number): CheckStatus {
  if (severity === 'error' && holds(error_if, failures)) return 'fail'
  return holds(warn_if, failures) ? 'warn' : 'pass'
}

/** Evaluates a comparison like `> 10`. */
function holds(comparison: string, value: number): boolean {
  const [, operator = '', number = ''] = /^([^\d\s]+)\s*(\d+)$/.exec(comparison) ?? []
  const sign = ['<', '=', '>'][Math.sign(value - Number(number)) + 1] ?? ''
  return operator === '!=' ? sign !== '=' : operator.includes(sign)
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
