import { stat } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../src/lib/errors.ts'
import { loadProject } from '../../src/model/project/project.ts'
import { listModels } from '../../src/model/project/compile.ts'
import { DAILY, serve } from './daily.ts'
import { Bench, TINY, writeFiles, type Files } from './fixture.ts'

/** The tiny project with unit tests of its fact, as yml. */
function tested(unitTests: string): Files {
  const yml = TINY['models/marts/fct_user.yml'] ?? ''
  return { ...TINY, 'models/marts/fct_user.yml': `${yml}unit_tests:\n${unitTests}` }
}

const SUMS = `  - name: sessions_add_up
    model: fct_user
    given:
      - input: ref('stg_user')
        rows:
          - {user_id: u1, sessions: 1}
          - {user_id: u1, sessions: 2}
          - {user_id: "it's", sessions: null}
    expect:
      rows:
        - {user_id: u1, sessions: 3}
        - {user_id: "it's", sessions: null}
`

const WRONG = SUMS.replace('sessions: 3', 'sessions: 4')

async function failure(work: Promise<unknown>): Promise<AppError> {
  try {
    await work
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  throw new Error('it did not fail')
}

/** The unit tests that ran so far. */
const names = ({ events }: Bench): string[] =>
  events.flatMap((event) =>
    event.type === 'check.finished' && !/^(unique|not_null)_/.test(event.check)
      ? [event.check]
      : [],
  )

it('an integer of a unit test that YAML would round is refused, because its neighbour would pass', async () => {
  const bench = await Bench.open()
  const rounded = SUMS.replace('sessions: 1}', 'sessions: 9007199254740990}').replace(
    'sessions: 3}',
    'sessions: 9007199254740993}',
  )
  const error = await failure(bench.build(tested(rounded)))
  expect(error.message).toContain('write an integer beyond 2^53 in quotes')
  await bench.build(tested(rounded.replace('9007199254740993', '"9007199254740992"')))
})

it('a unit test passes when the model makes the expected rows from the given ones', async () => {
  const bench = await Bench.open()
  await bench.build(tested(SUMS))
  expect(bench.events).toContainEqual({
    type: 'check.finished',
    check: 'sessions_add_up',
    severity: 'error',
    failures: 0,
    durationMs: 5,
  })
  expect(await bench.rows('select count(*) as n from fct_user')).toEqual([{ n: '3' }])
})

it('a model that a tested one reads may have a name that begins with this', async () => {
  const bench = await Bench.open()
  const renamed = Object.entries(tested(SUMS)).map(([path, text]): [string, string] => {
    return [path.replace('stg_user', 'this_user'), text.replaceAll('stg_user', 'this_user')]
  })
  await bench.build(Object.fromEntries(renamed))
  expect(names(bench)).toEqual(['sessions_add_up'])
})

it('a failed unit test prevents publishing, and shows the given, expected and made rows', async () => {
  const bench = await Bench.open()
  const error = await failure(bench.build(tested(WRONG)))
  expect(error.exitCode).toBe(6)
  expect(error.message).toBe(
    "a unit test of 'fct_user' failed: sessions_add_up (models/marts/fct_user.yml:16)",
  )
  expect(error.hint)
    .toBe(`Nothing was published; if there is an earlier warehouse, it stays in place.
sessions_add_up
  given ref('stg_user')
    {"user_id":"u1","sessions":1}
    {"user_id":"u1","sessions":2}
    {"user_id":"it's","sessions":null}
  expected, but not returned
    {"user_id":"u1","sessions":"4"}
  returned, but not expected
    {"user_id":"u1","sessions":"3"}`)
  await expect(stat(bench.target)).rejects.toThrow('ENOENT')
})

it('a unit test fails when the model makes an expected row less often', async () => {
  const bench = await Bench.open()
  const row = '        - {user_id: u1, sessions: 3}\n'
  const error = await failure(bench.build(tested(SUMS.replace(row, row + row))))
  expect(error.hint).toContain('expected, but not returned\n    {"user_id":"u1","sessions":"3"}')
})

it('a unit test may give a row that names no column', async () => {
  const bench = await Bench.open()
  const lone = SUMS.replace('{user_id: u1, sessions: 1}', '{}').replace(
    '        - {user_id: u1, sessions: 3}',
    '        - {user_id: u1, sessions: 2}\n        - {user_id: null, sessions: null}',
  )
  await bench.build(tested(lone))
  expect(names(bench)).toHaveLength(1)
})

describe('a unit test', () => {
  it('is not run again for an unchanged model', async () => {
    const bench = await Bench.open()
    await bench.build(tested(SUMS))
    await bench.land("('a', 'u9', 9)")
    await bench.build(tested(SUMS))
    expect(names(bench)).toHaveLength(1)
  })

  const sql = TINY['models/marts/fct_user.sql'] ?? ''
  const changes: [string, Files][] = [
    ['its model', { 'models/marts/fct_user.sql': `${sql}-- a word more\n` }],
    [
      'a model that its model reads',
      { 'models/staging/stg_user.sql': `${TINY['models/staging/stg_user.sql'] ?? ''}-- more` },
    ],
    [
      'the test itself',
      tested(SUMS.replace('sessions: 2', 'sessions: 1').replace('sessions: 3', 'sessions: 2')),
    ],
  ]
  it.each(changes)('is run again after a change of %s', async (_, files) => {
    const bench = await Bench.open()
    await bench.build(tested(SUMS))
    await bench.build({ ...tested(SUMS), ...files })
    expect(names(bench)).toHaveLength(2)
  })

  it('is run again in a full refresh', async () => {
    const bench = await Bench.open()
    await bench.build(tested(SUMS))
    await bench.build(tested(SUMS), { fullRefresh: true })
    expect(names(bench)).toHaveLength(2)
  })
})

const SOURCE = `  - name: small_ones_are_left_out
    model: stg_user
    given:
      - input: source('platform', 'users')
        rows:
          - {org_id: a, user_id: u, sessions: 3}
          - {org_id: a, user_id: v, sessions: 9}
    overrides:
      vars: {smallest: 5}
    expect:
      rows: [{user_id: v}]
`

it('a unit test may give rows of a source, and override vars', async () => {
  const bench = await Bench.open()
  await bench.build(tested(SOURCE))
  const error = await failure(bench.build(tested(SOURCE.replace('{user_id: v}', '{user_id: u}'))))
  expect(error.hint).toContain('returned, but not expected\n    {"user_id":"v"}')
})

it('a unit test may give rows as CSV, whose empty fields are NULL', async () => {
  const bench = await Bench.open()
  const csv = `  - name: csv
    model: fct_user
    given:
      - input: ref('stg_user')
        format: csv
        rows: |
          user_id,sessions
          "a, ""b""\n          c",1

          u2,
    expect:
      format: csv
      rows: |
        user_id,sessions
        "a, ""b""\n        c",1
        u2,
`
  await bench.build(tested(csv))
  expect(names(bench)).toEqual(['csv'])
})

it('a unit test may give a model no rows, and expect none', async () => {
  const bench = await Bench.open()
  await serve(bench, [['a', '2026-01-14', 'u1', 1, 'v1']])
  const yml = `${DAILY['models/fct_user_day.yml'] ?? ''}unit_tests:
  - name: no_rows_make_none
    model: fct_user_day
    overrides: {macros: {is_incremental: false}}
    given: [{input: ref('stg_users'), rows: []}]
    expect: {rows: []}
`
  await bench.build({ ...DAILY, 'models/fct_user_day.yml': yml })
  expect(names(bench)).toContain('no_rows_make_none')
})

describe('a unit test is refused with file and line', () => {
  const at = 'models/marts/fct_user.yml:16'
  const cases: [string, string, string][] = [
    [
      'for an unknown model',
      SUMS.replace('model: fct_user', 'model: fct_usr'),
      `${at}: unknown model 'fct_usr'`,
    ],
    [
      'without rows of a model that it reads',
      SUMS.replace(/given:[^]*expect/, 'expect'),
      `${at}: unit test 'sessions_add_up' has no rows for 'stg_user', which 'fct_user' reads`,
    ],
    [
      'with rows of a model that it does not read',
      SUMS.replace('given:', "given:\n      - {input: ref('fct_user'), rows: []}"),
      `${at}: unit test 'sessions_add_up' has rows for ref('fct_user'), which 'fct_user' does not read`,
    ],
    [
      'for an unknown input',
      SUMS.replace("ref('stg_user')", "ref('stg_usr')"),
      `${at}: unknown model 'stg_usr'`,
    ],
    [
      'with an input that is not a ref',
      SUMS.replace("ref('stg_user')", 'stg_user'),
      "fct_user.yml:19: unit_tests.0.given.0.input: write ref('model')",
    ],
    [
      'with an unknown format',
      SUMS.replace('    expect:', '    expect:\n      format: json'),
      "fct_user.yml:25: unit_tests.0.expect.format: the built-in runner supports the formats 'dict' and 'csv'",
    ],
    [
      'with uneven rows',
      SUMS.replace('{user_id: u1, sessions: 3}', '{user_id: u1}'),
      'fct_user.yml:24: one row has the columns user_id, another user_id, sessions',
    ],
    [
      'with a key that dbt does not have',
      SUMS.replace('    given:', '    when: now\n    given:'),
      "unknown key 'when'",
    ],
    ['when it is described twice', SUMS + SUMS, "unit test 'sessions_add_up' is described twice"],
  ]
  it.each(cases)('%s', async (_, yml, message) => {
    const folder = await writeFiles(tested(yml))
    const load = async () => listModels(await loadProject(folder))
    await expect(load()).rejects.toThrow(message)
  })

  const columns: [string, string, string][] = [
    ['given', SUMS.replace('{user_id: u1, sessions: 1}', '{user_ids: u1}'), "ref('stg_user')"],
    [
      'expected',
      SUMS.replace(/rows:\n +- {user_id: u1, sessions: 3}[^]*$/, 'rows: [{user_ids: u1}]\n'),
      "'fct_user'",
    ],
  ]
  it.each(columns)('with an unknown column in the %s rows', async (_, yml, where) => {
    const bench = await Bench.open()
    const error = await failure(bench.build(tested(yml)))
    expect(error.message).toBe(`${at}: unknown column of ${where} 'user_ids'`)
    expect(error.hint).toMatch(/^Nothing was published; .*\nDid you mean 'user_id'\?$/)
  })
})
