import { describe, expect, it } from 'vitest'
import { ChecksFailedError } from '../../src/lib/errors.ts'
import type { CheckResult } from '../../src/model/shared/checks.ts'
import { Bench, type Files } from './fixture.ts'

/** A table `t` with these rows of a and b, where b is also the org, and a table `parent` with 1 and 2 of the org x. */
function project(rows: string, test: { column?: string; model?: string }): Files {
  return {
    'dbt_project.yml': 'name: tiny\nmodels: {tiny: {+materialized: table}}\n',
    'models/t.sql': `select a, b, b as org_id from (values ${rows}) as v (a, b)`,
    'models/parent.sql': "select 'x' as org_id, id from (values (1), (2)) as v (id)",
    'models/t.yml': `models:
  - name: t
    description: Rows.
    data_tests: [${test.model ?? ''}]
    columns:
      - name: a
        description: A number.
        data_tests: [${test.column ?? ''}]
      - name: b
        description: A text.
      - name: org_id
        description: The organisation.
  - name: parent
    description: Numbers.
    columns:
      - name: org_id
        description: The organisation.
      - name: id
        description: A number.
`,
  }
}

async function failures(files: Files): Promise<number | undefined> {
  const bench = await Bench.open()
  try {
    await bench.build(files)
  } catch (error) {
    if (!(error instanceof ChecksFailedError)) throw error
  }
  const [finished] = bench.events.flatMap((event) =>
    event.type === 'check.finished' ? [event] : [],
  )
  return finished?.failures
}

describe('a generic test counts the wrong rows', () => {
  const accepted = 'accepted_values: {arguments: {values: [1, 2]}}'
  const parent = "relationships: {arguments: {to: ref('parent'), field: id}}"
  const inOrg = "relationships_in_org: {arguments: {to: ref('parent'), field: id}}"
  const key = 'unique_key: {arguments: {columns: [a, b]}}'
  const cases: [string, string, { column?: string; model?: string }, number][] = [
    ['unique passes', "(1, 'x'), (2, 'x'), (null, 'x'), (null, 'x')", { column: 'unique' }, 0],
    ['unique fails', "(1, 'x'), (1, 'y'), (2, 'x')", { column: 'unique' }, 1],
    ['unique fails beside NULL', "(1, 'x'), (1, 'y'), (null, 'x')", { column: 'unique' }, 1],
    ['not_null passes', "(1, 'x'), (2, null)", { column: 'not_null' }, 0],
    ['not_null fails', "(1, 'x'), (null, 'x'), (null, 'y')", { column: 'not_null' }, 2],
    ['accepted_values passes', "(1, 'x'), (2, 'x'), (null, 'x')", { column: accepted }, 0],
    ['accepted_values fails', "(1, 'x'), (3, 'x'), (4, 'x')", { column: accepted }, 2],
    ['relationships passes', "(1, 'x'), (2, 'x'), (null, 'x')", { column: parent }, 0],
    ['relationships fails', "(1, 'x'), (3, 'x'), (4, 'y')", { column: parent }, 2],
    ['relationships_in_org passes', "(1, 'x'), (2, 'x'), (null, 'y')", { column: inOrg }, 0],
    ['relationships_in_org fails', "(1, 'x'), (1, 'y'), (2, 'y'), (3, 'x')", { column: inOrg }, 3],
    ['unique_key passes', "(1, 'x'), (1, 'y'), (2, 'x')", { model: key }, 0],
    ['unique_key fails', "(1, 'x'), (1, 'x'), (1, 'x'), (1, 'y')", { model: key }, 1],
    ['unique_key treats NULL as a value', "(null, 'x'), (null, 'x')", { model: key }, 1],
  ]
  it.each(cases)('%s', async (_, rows, test, count) => {
    expect(await failures(project(rows, test))).toBe(count)
  })
})

it('accepted_values treats texts with quotes as data', async () => {
  const test = `accepted_values: {arguments: {values: ["it's", x]}}`
  const files = project("('it''s', 1), ('x', 1), ('no', 1)", { column: test })
  expect(await failures(files)).toBe(1)
})

it('build reports each check with its query, severity, status and duration', async () => {
  const bench = await Bench.open()
  const test = 'not_null: {config: {severity: warn}}'
  const { checks } = await bench.build(project("(1, 'x'), (null, 'y')", { column: test }))
  const result: CheckResult = {
    check: 'not_null_t_a',
    model: 't',
    column: 'a',
    severity: 'warn',
    store_failures: false,
    schema: 'dbt_test__audit',
    scope: 'all',
    failures: 1,
    status: 'warn',
    durationMs: 5,
    sql: checks[0]?.sql ?? '',
    count: { of: 'count(*) - count("a")', isExact: true, in: 'main.t', inChanged: undefined },
    file: 'models/t.yml',
    reads: ['t'],
    readsOnlyModels: true,
  }
  expect(checks).toEqual([result])
  expect(await bench.rows(`from (${result.sql})`)).toHaveLength(1)
  expect(bench.events).toContainEqual({
    type: 'check.finished',
    check: 'not_null_t_a',
    severity: 'warn',
    failures: 1,
    durationMs: 5,
  })
})

it('build runs the singular tests of the project with their own severity', async () => {
  const bench = await Bench.open()
  const { checks } = await bench.build({
    ...project("(1, 'x'), (2, 'y')", {}),
    'tests/no_twos.sql':
      "{{ config(severity='warn') }}\nselect * from {{ ref('t') }} where a = 2 -- two\n;\n",
    'tests/no_threes.sql': "select * from {{ ref('t') }} where a = 3",
    'tests/generic/ignored.sql': '{% test ignored(model) %}{% endtest %}',
  })
  expect(
    checks.map(({ check, model, status, failures }) => [check, model, status, failures]),
  ).toEqual([
    ['no_threes', null, 'pass', 0],
    ['no_twos', null, 'warn', 1],
  ])
})

it('build refuses two checks of one name, unless one has a name of its own', async () => {
  const bench = await Bench.open()
  const one = 'accepted_values: {arguments: {values: [1]}}'
  const build = (other: string) => bench.build(project("(1, 'x')", { column: `${one}, ${other}` }))
  await expect(build(one)).rejects.toThrow(
    "models/t.yml: two checks have the name 'accepted_values_t_a'",
  )
  const { checks } = await build('accepted_values: {name: only_one, arguments: {values: [1]}}')
  expect(checks.map(({ check }) => check)).toEqual(['accepted_values_t_a', 'only_one'])
})

it('build reports an error of DuckDB with the check and its file', async () => {
  const bench = await Bench.open()
  const files = { ...project("(1, 'x')", {}), 'tests/broken.sql': "select c from {{ ref('t') }}" }
  await expect(bench.build(files)).rejects.toThrow("tests/broken.sql: check 'broken': Binder Error")
})

describe('a test can be configured', () => {
  const rows = "(1, 'x'), (3, 'x'), (4, 'y'), (5, 'y')"
  const cases: [string, string, string, number][] = [
    ['to warn', 'severity: warn', 'warn', 3],
    ['to fail', 'severity: error', 'fail', 3],
  ]
  it.each(cases)('%s', async (_, config, status, count) => {
    const bench = await Bench.open()
    const test = `accepted_values: {arguments: {values: [1]}, config: {${config}}}`
    const error = await bench.build(project(rows, { column: test })).catch((thrown: unknown) => {
      if (thrown instanceof ChecksFailedError) return thrown
      throw thrown
    })
    if (error instanceof ChecksFailedError) {
      expect(status).toBe('fail')
      expect(error.message).toContain(`accepted_values_t_a (${count} row`)
      return
    }
    expect(error.checks).toMatchObject([{ status, failures: count }])
    const [finished] = bench.events.filter(({ type }) => type === 'check.finished')
    expect(finished).toMatchObject({ failures: status === 'pass' ? 0 : count })
  })

  it('by the project, for all tests', async () => {
    const bench = await Bench.open()
    const files = project(rows, { column: 'accepted_values: {arguments: {values: [1]}}' })
    const yml = `name: tiny
models: {tiny: {+materialized: table}}
data_tests: {+severity: warn, tiny: {+store_failures: true, +schema: audit}}
`
    await bench.build({ ...files, 'dbt_project.yml': yml })
    expect(await bench.rows('from audit.accepted_values_t_a order by all')).toEqual([
      { a: 3, row_count: '1' },
      { a: 4, row_count: '1' },
      { a: 5, row_count: '1' },
    ])
    const bare = 'select * from meta.columns where description is null'
    expect(await bench.rows(bare)).toEqual([])
  })

  it('store the rows of several checks at the same time', async () => {
    const names = Array.from({ length: 60 }, (_, index) => `no_threes_${10 + index}`)
    // Pairs share a schema, which each of the two creates if it is missing.
    const files = names.map((name, index) => [
      `tests/${name}.sql`,
      `{{ config(severity='warn', store_failures=true, schema='audit_${index >> 1}') }}
      select * from {{ ref('t') }} where a = 3`,
    ])
    const bench = await Bench.open()
    const build = { ...project(rows, {}), ...(Object.fromEntries(files) as Record<string, string>) }
    const { checks } = await bench.build(build)
    expect(checks.map(({ check, failures }) => [check, failures])).toEqual(
      names.map((name) => [name, 1]),
    )
  })

  it('only with known keys and values', async () => {
    const bench = await Bench.open()
    const build = (config: string) =>
      bench.build(project(rows, { column: `not_null: {config: {${config}}}` }))
    await expect(build("fail_calc: 'sum(a)'")).rejects.toThrow("unknown key 'fail_calc'")
    const files = project(rows, {})
    const yml = 'name: tiny\ndata_tests:\n  +store_failure: true\n'
    await expect(bench.build({ ...files, 'dbt_project.yml': yml })).rejects.toThrow(
      'dbt_project.yml:3: +store_failure: Unrecognized key',
    )
  })
})
