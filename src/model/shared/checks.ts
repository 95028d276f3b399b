import { identifier, literal } from '../../lib/duckdb.ts'
import { statement, fill } from '../../lib/package.ts'
import { changedRows } from './relations.ts'
import type { Compiled } from '../project/compile.ts'
import { ProjectError } from '../project/errors.ts'
import { hasOtherInput } from '../project/other-input.ts'
import { referenceOf } from '../project/properties.ts'
import type { GenericTest, ModelNode, TestSettings } from '../project/types.ts'

/** The columns of another model that must contain the values. */
export interface ReferencedColumns {
  readonly relation: string
  readonly columns: readonly string[]
}

/**
 * An expression that is 0 if all rows are right. The expressions of all checks of one relation are
 * evaluated in one pass.
 */
interface Counting {
  readonly of: string
  /** Whether it is the number of wrong rows; otherwise, the check's own statement counts them. */
  readonly isExact: boolean
  /** The relation to read. */
  readonly in: string
  /** The rows to read if it is enough to check the replaced intervals. */
  readonly inChanged: string | undefined
}

/** A statement that returns the rows that are wrong. */
export interface Check extends TestSettings {
  readonly check: string
  /** Null for a singular test. */
  readonly model: string | null
  readonly column: string | null
  readonly sql: string
  /**
   * The same for the intervals that this build replaced. It is enough if the other intervals have
   * passed. Absent if a row of one interval can make a row of another wrong.
   */
  readonly changedSql?: string | undefined
  /**
   * The columns that must contain the values. Once a value has disappeared from them, `changedSql`
   * is not enough.
   */
  readonly reference?: ReferencedColumns | undefined
  /** A count of one pass, if the check has one. */
  readonly count?: Counting | undefined
  /** The project file that declares it. */
  readonly file: string
  readonly reads: readonly string[]
  /** Whether equal rows of these models have the same result, at any time. */
  readonly readsOnlyModels: boolean
}

/** The table with the rows that the check found wrong, if they are stored. */
export function failuresTable({ check, schema }: Check): string {
  return `${schema}.${check}`
}

/** A check, and the rows that it has to read. */
export interface PlannedCheck extends Check {
  /**
   * - `all`: every row;
   * - `changed`: the replaced intervals, because all others have passed;
   * - `removed values`: every row if values that it refers to have disappeared, else nothing;
   * - `none`: it has passed, and nothing that it reads has changed since.
   */
  readonly scope: 'all' | 'changed' | 'removed values' | 'none'
}

export interface CheckResult extends PlannedCheck {
  /** Rows that are wrong. */
  readonly failures: number
  readonly status: 'pass' | 'warn' | 'fail'
  readonly durationMs: number
}

/**
 * The checks that read any of the `chosen` models, as dbt selects them (with all models chosen: every
 * one). Those of a model that refers to a chosen one are among them: its values may be gone.
 *
 * @throws ProjectError when two checks have one name.
 */
export function checksOf(compiled: Compiled, chosen: readonly ModelNode[]): Check[] {
  const relations = new Map(compiled.models.map((node) => [node.name, node.relation]))
  const names = new Set(chosen.map((node) => node.name))
  const isWhole = chosen.length === compiled.models.length
  const generic = compiled.models.flatMap((node) =>
    node.tests.map((test) => toCheck(test, node, relations)),
  )
  const singular = compiled.tests.map(({ name, file, sql, dependsOn, sources, ...settings }) => ({
    ...settings,
    check: name,
    model: null,
    column: null,
    sql,
    file,
    reads: dependsOn,
    readsOnlyModels: dependsOn.length > 0 && sources.length === 0 && !hasOtherInput(sql),
  }))
  const checks = [...generic, ...singular].filter(
    ({ reads }) => isWhole || reads.some((name) => names.has(name)),
  )
  const found = checks.map(({ check }) => check)
  const twin = checks.find(({ check }, index) => found.indexOf(check) < index)
  if (twin === undefined) return checks
  throw new ProjectError({ file: twin.file }, `two checks have the name '${twin.check}'`, {
    hint: 'Give one of them a name of its own: name: …',
  })
}

function toCheck(
  test: GenericTest,
  node: ModelNode,
  relations: ReadonlyMap<string, string>,
): Check {
  const { name, column, arguments: args, place, ...settings } = test
  const { relation } = node
  const other = referenceOf(args)
  const reference = other && {
    relation: relations.get(other.model) ?? other.model,
    columns: other.columns,
  }
  const changed = isWithinIntervals(test, node) ? changedRows(node) : undefined
  const counting = countingOf(args, column)
  const sqlOf = (model: string): string => {
    const values = { model, column_name: column ?? '', relation: reference?.relation ?? '' }
    return fill(statement(`checks/${args.kind}`), { ...values, ...own(args) }).trim()
  }
  return {
    ...settings,
    check: name,
    model: node.name,
    column,
    sql: sqlOf(relation),
    changedSql: changed && sqlOf(changed),
    reference,
    count: counting && { ...counting, in: relation, inChanged: changed },
    file: place.file,
    reads: other === undefined ? [node.name] : [node.name, other.model],
    readsOnlyModels: true,
  }
}

/**
 * Whether a row's result depends only on itself, its interval and the values it refers to. A row
 * without a value in the key of its interval belongs to none, so `not_null` reads every row there.
 */
function isWithinIntervals({ arguments: test, column }: GenericTest, node: ModelNode): boolean {
  if (node.increment === null || test.kind === 'unique') return false
  if (test.kind === 'not_null') return column === null || !node.unique_key.includes(column)
  if (test.kind !== 'unique_key') return true
  return node.unique_key.every((column) => test.columns.includes(column))
}

/** The expression that is 0 if all rows are right, for the kinds of checks that have one. */
function countingOf(
  args: GenericTest['arguments'],
  columnName: string | null,
): Pick<Counting, 'of' | 'isExact'> | undefined {
  const column = identifier(columnName ?? '')
  if (args.kind === 'not_null') return { of: `count(*) - count(${column})`, isExact: true }
  if (args.kind === 'unique') {
    return { of: `count(${column}) - count(distinct ${column})`, isExact: false }
  }
  if (args.kind !== 'unique_key') return undefined
  // different keys may have equal hashes
  return { of: `count(*) - count(distinct hash(${args.columns.join(', ')}))`, isExact: false }
}

/** The placeholders that only this kind of test has, as SQL. */
function own(test: GenericTest['arguments']): Record<string, string> {
  if ('columns' in test) return { columns: test.columns.join(', ') }
  if ('field' in test) return { field: test.field }
  if (!('values' in test)) return {}
  const values = test.values.map((value) =>
    typeof value === 'string' ? literal(value) : String(value),
  )
  return { values: values.join(', ') }
}
