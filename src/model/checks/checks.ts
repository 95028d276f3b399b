import { messageOf } from '../../lib/errors.ts'
import { allOrThrow } from '../../lib/concurrency.ts'
import { literal, type Database } from '../../lib/duckdb.ts'
import { statement, fill } from '../../lib/package.ts'
import type { BuildContext } from '../build/build-context.ts'
import { ProjectError, StatementError } from '../project/errors.ts'
import { changedRows } from '../build/incremental.ts'
import { countMissingValues, type Asked, type Count } from './missing-values.ts'
import type { Plan } from '../project/compile.ts'
import type { HasLostRows, Reference } from '../project/references.ts'
import type { GenericTest, ModelNode, Severity, TestSettings } from '../project/types.ts'

export type CheckStatus = 'pass' | 'warn' | 'fail'

/** A statement that returns the rows that are wrong. */
export interface Check {
  readonly check: string
  /** Null for a singular test. */
  readonly model: string | null
  readonly column: string | null
  readonly severity: Severity
  readonly settings: TestSettings
  readonly sql: string
  /**
   * The same of the intervals that this build replaced: enough where the other
   * intervals have passed. Absent where a row can be wrong by one of another
   * interval.
   */
  readonly changedSql?: string
  /** Where the values have to be. Once a value is gone from it, `changedSql` is not enough. */
  readonly reference?: Reference
  /** The relations that are read, where it only asks that its column has a value. */
  readonly missing?: { readonly in: string; readonly inChanged?: string }
  /** Where the project asks for it. */
  readonly file: string
  /** The models that it reads. */
  readonly reads: readonly string[]
}

export interface CheckResult extends Check {
  /** Rows that are wrong. */
  readonly failures: number
  readonly status: CheckStatus
  readonly durationMs: number
}

/**
 * The checks of the `chosen` models: their generic tests, and the singular
 * tests that read any of them (with all models chosen: every one).
 *
 * @throws ProjectError when two checks have one name.
 */
export function planChecks(plan: Plan, chosen: readonly ModelNode[]): Check[] {
  const models = new Map(plan.models.map((node) => [node.name, node]))
  const names = new Set(chosen.map((node) => node.name))
  const isWhole = chosen.length === plan.models.length
  const generic = chosen.flatMap((node) => node.tests.map((test) => toCheck(test, node, models)))
  const singular = plan.tests
    .filter((test) => isWhole || test.dependsOn.some((name) => names.has(name)))
    .map((test) => ({
      check: test.name,
      model: null,
      column: null,
      severity: test.severity,
      settings: settingsOf(test),
      sql: limited(test.sql, test),
      file: test.file,
      reads: test.dependsOn,
    }))
  const checks = [...generic, ...singular]
  refuseTwice(checks)
  return checks
}

/** What is known of checks from earlier builds. */
export interface ReusedChecks {
  /** They hold of all that stays as it is. */
  readonly onChangedRows: ReadonlySet<Check>
  /** They have passed, and nothing that they read has changed since. */
  readonly alreadyPassed: ReadonlySet<Check>
}

/** What is known from this build of what checks read. */
export interface Facts {
  /** Models whose rows are those of the last build: of them no interval was replaced. */
  readonly unchanged: ReadonlySet<string>
  readonly hasLostRows: HasLostRows
}

export interface CheckedModels {
  readonly results: readonly CheckResult[]
  /** Why DuckDB refused checks. */
  readonly failures: readonly StatementError[]
}

/**
 * Runs the checks, except those that read a `missing` model; those that hold
 * for the intervals that were not replaced run on the replaced ones alone.
 * Those in `alreadyPassed` have passed, on the same rows. Those that may ask
 * which intervals were replaced go one by one, and the others meanwhile on the
 * second connection.
 */
export async function runChecks(
  context: BuildContext,
  checks: readonly Check[],
  facts: ReusedChecks & Facts,
  missing: ReadonlySet<string>,
): Promise<CheckedModels> {
  const runIn = (db: Database, own: readonly Check[]): Promise<Checked> =>
    runInTurn({ ...context, db }, own, facts, missing)
  const ofChanges = ({ changedSql }: Check): boolean => changedSql !== undefined
  const others = checks.filter((check) => !ofChanges(check))
  const halves = await allOrThrow([
    runIn(context.db, checks.filter(ofChanges)),
    runIn(context.second, others),
  ])
  const inOrder = <T>(of: (checked: Checked) => ReadonlyMap<Check, T>): T[] =>
    checks.flatMap((check) => halves.flatMap((checked) => of(checked).get(check) ?? []))
  return { results: inOrder(({ results }) => results), failures: inOrder((each) => each.failures) }
}

interface Checked {
  readonly results: ReadonlyMap<Check, CheckResult>
  readonly failures: ReadonlyMap<Check, StatementError>
}

async function runInTurn(
  context: BuildContext,
  checks: readonly Check[],
  facts: ReusedChecks & Facts,
  missing: ReadonlySet<string>,
): Promise<Checked> {
  const { onChangedRows: known, alreadyPassed: settled } = facts
  const results = new Map<Check, CheckResult>()
  const failures = new Map<Check, StatementError>()
  const runnable = checks.filter(({ reads }) => !reads.some((name) => missing.has(name)))
  const counts = await countMissingValues(
    context,
    runnable
      .filter((check) => !settled.has(check))
      .flatMap((check) => askedOf(check, known.has(check))),
  )
  for (const check of checks) {
    context.signal?.throwIfAborted()
    const lacking = check.reads.filter((name) => missing.has(name))
    try {
      if (lacking.length > 0) reportSkipped(context, check, lacking)
      else {
        const isCounted = settled.has(check) || counts.has(check.check)
        const sql = known.has(check) && !isCounted ? await sqlWithin(check, facts) : check.sql
        const hasPassed = settled.has(check) || sql === null
        const counted = hasPassed ? PASSED_BEFORE : counts.get(check.check)
        results.set(check, await runCheck(context, check, sql ?? check.sql, counted))
      }
    } catch (error) {
      context.signal?.throwIfAborted()
      if (!(error instanceof StatementError)) throw error
      failures.set(check, error)
    }
  }
  return { results, failures }
}

/** What is enough of a check that holds of the intervals that were not replaced; null: nothing is. */
async function sqlWithin(
  { sql, changedSql = sql, reference, model }: Check,
  { unchanged, hasLostRows }: Facts,
): Promise<string | null> {
  if (reference === undefined) return changedSql
  if (await hasLostRows(reference)) return sql
  return unchanged.has(model ?? '') ? null : changedSql
}

const PASSED_BEFORE: Count = { failures: 0, durationMs: 0 }

function askedOf({ check, column, missing }: Check, isKnown: boolean): Asked[] {
  if (missing === undefined || column === null) return []
  const relation = isKnown ? (missing.inChanged ?? missing.in) : missing.in
  return [{ check, column, relation }]
}

function reportSkipped(
  { report, now }: BuildContext,
  { check }: Check,
  missing: readonly string[],
): void {
  const message = `not made: ${missing.join(', ')}`
  const nothing = { startedAt: now(), durationMs: 0, failures: null }
  report({ kind: 'check', name: check, status: 'skipped', message, ...nothing })
}

async function runCheck(
  { db, emit, now, report }: BuildContext,
  check: Check,
  sql: string,
  counted: Count | undefined,
): Promise<CheckResult> {
  const startedAt = now()
  const outcome = { kind: 'check', name: check.check, startedAt } as const
  const counting = counted === undefined ? countFailures(db, check, sql) : counted.failures
  const failures = await Promise.resolve(counting).catch((error: unknown) => {
    const durationMs = now() - startedAt
    const message = messageOf(error)
    report({ ...outcome, status: 'error', durationMs, message, failures: null })
    throw error
  })
  const durationMs = counted?.durationMs ?? now() - startedAt
  const status = statusOf(check.settings, failures)
  emit({
    type: 'check.finished',
    check: check.check,
    severity: status === 'warn' ? 'warn' : check.severity,
    failures: status === 'pass' ? 0 : failures,
    durationMs,
  })
  const message = status === 'pass' ? null : `${String(failures)} rows are wrong`
  report({ ...outcome, status, durationMs, message, failures })
  return { ...check, failures, durationMs, status }
}

function statusOf({ severity, error_if, warn_if }: TestSettings, failures: number): CheckStatus {
  if (severity === 'error' && holds(error_if, failures)) return 'fail'
  return holds(warn_if, failures) ? 'warn' : 'pass'
}

/** Whether a comparison like `> 10` holds of the number. */
function holds(comparison: string, value: number): boolean {
  const [, operator = '', number = ''] = /^([^\d\s]+)\s*(\d+)$/.exec(comparison) ?? []
  const other = Number(number)
  switch (operator) {
    case '>':
      return value > other
    case '>=':
      return value >= other
    case '<':
      return value < other
    case '<=':
      return value <= other
    case '=':
    case '==':
      return value === other
    default:
      return value !== other
  }
}

async function countFailures(db: BuildContext['db'], check: Check, sql: string): Promise<number> {
  try {
    const [row] = await db.rows(`select count(*) as failures from (${sql}\n)`)
    return Number(row?.['failures'] ?? 0)
  } catch (error) {
    throw new StatementError(`${check.file}: check '${check.check}': ${messageOf(error)}`, {
      cause: error,
    })
  }
}

function toCheck(
  test: GenericTest,
  node: ModelNode,
  models: ReadonlyMap<string, ModelNode>,
): Check {
  const reference = referenceOf(test, models)
  const sqlOf = (relation: string): string => {
    const rows = test.where === null ? relation : `(select * from ${relation} where ${test.where})`
    const values = valuesOf(test, rows, reference)
    return limited(fill(statement(`checks/${test.arguments.kind}`), values).trim(), test)
  }
  return {
    check: test.name,
    model: node.name,
    column: test.column,
    severity: test.severity,
    settings: settingsOf(test),
    sql: sqlOf(node.relation),
    ...(isWithinIntervals(test, node) ? { changedSql: sqlOf(changedRows(node)) } : {}),
    ...(reference === null ? {} : { reference }),
    ...(isOfMissingValues(test) ? { missing: missingIn(test, node) } : {}),
    file: test.place.file,
    reads: test.arguments.kind === 'relationships' ? [node.name, test.arguments.to] : [node.name],
  }
}

function referenceOf(
  { arguments: test }: GenericTest,
  models: ReadonlyMap<string, ModelNode>,
): Reference | null {
  if (test.kind !== 'relationships') return null
  return { relation: models.get(test.to)?.relation ?? test.to, field: test.field }
}

function isOfMissingValues({ arguments: { kind }, column, where, limit }: GenericTest): boolean {
  return kind === 'not_null' && column !== null && where === null && limit === null
}

function missingIn(test: GenericTest, node: ModelNode): { in: string; inChanged?: string } {
  const { relation } = node
  if (!isWithinIntervals(test, node)) return { in: relation }
  return { in: relation, inChanged: changedRows(node) }
}

function limited(sql: string, { limit }: TestSettings): string {
  return limit === null ? sql : `${sql}\nlimit ${limit}`
}

function settingsOf(test: TestSettings): TestSettings {
  const { severity, warn_if, error_if, where, limit, store_failures, schema } = test
  return { severity, warn_if, error_if, where, limit, store_failures, schema }
}

/** Whether a row can be wrong only by itself, by rows of its own interval, or by what it points at. */
function isWithinIntervals({ arguments: test }: GenericTest, node: ModelNode): boolean {
  if (node.increment === null) return false
  switch (test.kind) {
    case 'not_null':
    case 'accepted_values':
    case 'relationships':
      return true
    case 'unique_key':
      return node.unique_key.every((column) => test.columns.includes(column))
    case 'unique':
      return false
  }
}

/** The placeholders that a generic test may use, as SQL. */
function valuesOf(
  test: GenericTest,
  relation: string,
  reference: Reference | null,
): Record<string, string> {
  const shared = {
    model: relation,
    ...(test.column === null ? {} : { column_name: test.column }),
  }
  switch (test.arguments.kind) {
    case 'accepted_values':
      return { ...shared, values: test.arguments.values.map(sqlValue).join(', ') }
    case 'relationships':
      return { ...shared, to: reference?.relation ?? '', field: reference?.field ?? '' }
    case 'unique_key':
      return { ...shared, columns: test.arguments.columns.join(', ') }
    case 'unique':
    case 'not_null':
      return shared
  }
}

function sqlValue(value: string | number | boolean): string {
  return typeof value === 'string' ? literal(value) : String(value)
}

function refuseTwice(checks: readonly Check[]): void {
  const seen = new Set<string>()
  for (const { check, file } of checks) {
    if (seen.has(check)) {
      throw new ProjectError({ file }, `two checks are called '${check}'`, {
        hint: 'Give one of them a name of its own: name: …',
      })
    }
    seen.add(check)
  }
}
