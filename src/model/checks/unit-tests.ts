import { createHash } from 'node:crypto'
import { ChecksFailedError } from '../../lib/errors.ts'
import { identifier, literal, type Row } from '../../lib/duckdb.ts'
import { statement, fill } from '../../lib/package.ts'
import { counted } from '../../lib/text.ts'
import { readColumns, reportSkipped, type BuildContext, type BuildPlan } from '../shared/context.ts'
import { labelErrors, placeText, unknownName } from '../project/errors.ts'
import type { UnitTestNode } from '../project/types.ts'
import type { Fixture } from '../project/shapes.ts'

/**
 * Runs unit tests of one model, and reports the model as skipped if one fails. The relations that
 * it reads must exist: the given rows get their columns and types. `found`: the rows that differ,
 * of each test, where another engine ran them.
 *
 * @throws ChecksFailedError with the rows when one fails; ProjectError for a
 * column that is not there; StatementError when DuckDB refuses one.
 */
export async function runUnitTests(
  context: BuildContext,
  model: string,
  { unitTests }: BuildPlan,
  found?: readonly (readonly Row[])[],
): Promise<void> {
  const failed: Failure[] = []
  try {
    for (const [index, test] of unitTests.filter((each) => each.model === model).entries()) {
      context.signal?.throwIfAborted()
      const differences = await runUnitTest(context, test, found?.[index])
      if (differences.length > 0) failed.push({ test, differences })
    }
    if (failed.length > 0) throw failedError(failed)
  } catch (error) {
    reportSkipped(context, 'model', model, 'its unit tests failed')
    throw error
  }
}

async function runUnitTest(
  context: BuildContext,
  test: UnitTestNode,
  found?: readonly Row[],
): Promise<readonly Row[]> {
  const { now, emit, report } = context
  const { name } = test
  const startedAt = now()
  const differences =
    found ??
    (await labelErrors(placeOf(test), async () =>
      context.db.rows(await differencesSql(context, test)),
    ))
  const [failures, durationMs] = [differences.length, now() - startedAt]
  emit({ type: 'check.finished', check: name, severity: 'error', failures, durationMs })
  const outcome = { kind: 'unit_test', name, startedAt, durationMs, failures } as const
  if (failures === 0) report({ ...outcome, status: 'pass' })
  else report({ ...outcome, status: 'fail', message: counted(failures, 'difference') })
  return differences
}

/**
 * Digest of everything that decides the result of a model's unit tests, except the model's inputs.
 */
export function unitTestsDigest(tests: readonly UnitTestNode[]): string {
  const parts = tests.map(({ name, sql, given, expect }) => [name, sql, given, expect])
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}

const IS_EXPECTED = '(is expected)'

/** How an engine spells a type of DuckDB. */
type Spell = (type: string) => string

/**
 * The statement that finds the rows that differ, each with whether it was expected. For another
 * engine, `sql` is the model's SQL there.
 */
export async function differencesSql(
  context: BuildContext,
  test: UnitTestNode,
  spell: Spell = (type) => type,
  sql = test.sql,
): Promise<string> {
  const { place, model, expect } = test
  return labelErrors(placeOf(test), async () => {
    const own = await actualSql(context, test, (type) => type, test.sql)
    const types = typesOf(await context.db.table(`select * from (${own}\n) limit 0`))
    const columns = expect[0] === undefined ? [...types.keys()] : Object.keys(expect[0])
    return fill(statement('unit_tests/differences'), {
      actual: await actualSql(context, test, spell, sql),
      expected: fixtureSql(expect, types, spell, (name) =>
        unknownName(place, `column of '${model}'`, name, types.keys()),
      ),
      columns: columns.map(identifier).join(', '),
    })
  })
}

function placeOf({ place, name }: UnitTestNode): string {
  return `${placeText(place)}: unit test '${name}'`
}

/** The rows that the model makes from the given ones. */
async function actualSql(
  context: BuildContext,
  { place, given }: UnitTestNode,
  spell: Spell,
  model: string,
): Promise<string> {
  const ctes: string[] = []
  for (const { alias, relation, rows, input } of given) {
    const columns = context.tableColumns.get(relation) ?? (await readColumns(context, relation))
    const types = typesOf(columns)
    const sql = fixtureSql(rows, types, spell, (name) =>
      unknownName(place, `column of ${input}`, name, types.keys()),
    )
    ctes.push(`${alias} as (\n\n${sql}\n\n),`)
  }
  return fill(statement('unit_tests/actual'), { given: ctes.join('\n\n'), model })
}

type Types = ReadonlyMap<string, string>

function typesOf(table: { columns: readonly string[]; types: readonly string[] }): Types {
  return new Map(table.columns.map((name, index) => [name, table.types[index] ?? 'VARCHAR']))
}

/** The rows, typed; a column that a row does not name is NULL. */
function fixtureSql(
  rows: Fixture,
  types: Types,
  spell: Spell,
  unknown: (name: string) => Error,
): string {
  for (const name of rows.flatMap((row) => Object.keys(row))) {
    if (!types.has(name)) throw unknown(name)
  }
  // the first column stands for rows that name none
  const named = [...types.keys()].filter(
    (name, at) => at === 0 || rows.some((row) => row[name] !== undefined),
  )
  const columns = [...types].map(([name, type]) => {
    const cell = named.includes(name) ? identifier(name) : 'null'
    return `cast(${cell} as ${spell(type)}) as ${identifier(name)}`
  })
  // a scalar as text, so that all cells of a column have one type
  const cells = (row: Fixture[number]): string[] =>
    named.map((name) => (row[name] == null ? 'null' : literal(String(row[name]))))
  const values = (row: Fixture[number]): string => `(${cells(row).join(', ')})`
  const all = rows.length === 0 ? [values({})] : rows.map(values)
  const fixture = `(values ${all.join(',\n')}) as fixture (${named.map(identifier).join(', ')})`
  const sql = `select ${columns.join(', ')} from ${fixture}`
  return rows.length === 0 ? `${sql} where false` : sql
}

interface Failure {
  readonly test: UnitTestNode
  readonly differences: readonly Row[]
}

function failedError(failures: readonly Failure[]): ChecksFailedError {
  const names = failures.map(({ test }) => `${test.name} (${placeText(test.place)})`).join(', ')
  const what = failures.length === 1 ? 'a unit test' : `${String(failures.length)} unit tests`
  const model = failures[0]?.test.model ?? ''
  return new ChecksFailedError(`${what} of '${model}' failed: ${names}`, {
    hint: failures.map(failureText).join('\n'),
  })
}

const LISTED_ROWS = 20

function failureText({ test, differences }: Failure): string {
  const lines = (rows: Fixture): string[] => rows.map((row) => `    ${JSON.stringify(row)}`)
  return [
    test.name,
    ...test.given.flatMap(({ input, rows }) => [`  given ${input}`, ...lines(rows)]),
    ...side('expected, but not returned', differences, true),
    ...side('returned, but not expected', differences, false),
  ].join('\n')
}

function side(title: string, differences: readonly Row[], isExpected: boolean): string[] {
  const rows = differences
    .filter((row) => row[IS_EXPECTED] === isExpected)
    .map((row) => Object.entries(row).filter(([name]) => name !== IS_EXPECTED))
    .map((cells) => `    ${JSON.stringify(Object.fromEntries(cells))}`)
  if (rows.length === 0) return []
  const more =
    rows.length > LISTED_ROWS ? [`    and ${String(rows.length - LISTED_ROWS)} more`] : []
  return [`  ${title}`, ...rows.slice(0, LISTED_ROWS), ...more]
}
