import { expect, it } from 'vitest'
import { readRecords } from '../../src/lake/published.ts'
import { DAILY, serve, type UserDay } from './daily.ts'
import { Bench, type Files } from './fixture.ts'
import { project } from './alone.ts'

const ROWS: readonly UserDay[] = [
  ['a', '2026-01-14', 'u1', 1, 'v1'],
  ['a', '2026-01-15', 'u1', 3, 'v1'],
]

/** Two builds of one source, with the given digests of its content. */
async function builtTwice(before: string | null, now: string | null): Promise<Bench> {
  const bench = await Bench.open()
  await serve(bench, ROWS)
  await bench.build(DAILY, { sourceContent: () => before })
  await bench.write('create or replace table fct_total as select 999 as sessions')
  await bench.build(DAILY, { sourceContent: () => now })
  return bench
}

it('a table is reused when its SQL and its source are unchanged', async () => {
  const bench = await builtTwice('digest-1', 'digest-1')
  expect(await bench.rows('select cast(sessions as int) as sessions from fct_total')).toEqual([
    { sessions: 999 },
  ])
})

it.each([
  ['its source has changed', 'digest-1', 'digest-2'],
  ['the content of its source is unknown', null, null],
  ['the content of its source was unknown', null, 'digest-1'],
])('a table is built again when %s', async (_, before, now) => {
  const bench = await builtTwice(before, now)
  expect(await bench.rows('select cast(sessions as int) as sessions from fct_total')).toEqual([
    { sessions: 4 },
  ])
})

/** Two builds, with the data folder at another path for the second. */
async function builtAndMoved(second: Files, rows = ROWS): Promise<Bench> {
  const before = await Bench.open()
  await serve(before, ROWS)
  const of = (digest: string, { data }: Bench): object => ({
    sourceContent: () => digest,
    movableFolder: data,
  })
  await before.build(DAILY, of('digest', before))
  await before.write('create or replace table fct_total as select 999 as sessions')
  const bench = await before.moved()
  await serve(bench, rows)
  await bench.build(second, of(rows === ROWS ? 'digest' : 'other', bench))
  return bench
}

it('a data folder that has moved keeps its tables, and its views read the files at the new path', async () => {
  const bench = await builtAndMoved(DAILY)
  expect(await bench.rows('select cast(sessions as int) as sessions from fct_total')).toEqual([
    { sessions: 999 },
  ])
  expect(await bench.rows('select count(*)::int as days from stg_users')).toEqual([{ days: 2 }])
})

it('an incremental model of a data folder that has moved replaces the changed days only', async () => {
  const restated: readonly UserDay[] = [
    ROWS[0] ?? expect.fail(),
    ['a', '2026-01-15', 'u1', 2, 'v2'],
  ]
  const bench = await builtAndMoved(DAILY, restated)
  const updated = bench.events.findLast(
    (event) => event.type === 'model.built' && event.model === 'fct_user_day',
  )
  expect(updated).toMatchObject({ intervals: 1 })
  expect(await bench.rows('select sum(sessions)::int as sessions from fct_user_day')).toEqual([
    { sessions: 3 },
  ])
})

it('a changed model is built again in a data folder that has moved', async () => {
  const sql = "{{ config(materialized='table') }}\nselect 7 as sessions"
  const bench = await builtAndMoved({ ...DAILY, 'models/fct_total.sql': sql })
  expect(await bench.rows('select sessions from fct_total')).toEqual([{ sessions: 7 }])
})

it('a build of some models in a data folder that has moved reads the files at the new path', async () => {
  const seen = (sql: string): Files => ({
    ...DAILY,
    'models/fct_seen.sql': `{{ config(materialized='table') }}\n${sql} from {{ ref('stg_users') }}`,
    'models/fct_seen.yml': `models:
  - name: fct_seen
    description: One row.
    columns:
      - {name: days, description: Days.}
`,
  })
  const before = await Bench.open()
  await serve(before, ROWS)
  await before.build(seen('select count(*) as days'), { movableFolder: before.data })
  const bench = await before.moved()
  await serve(bench, ROWS.slice(1))
  const some = { movableFolder: bench.data, select: 'fct_seen' }
  await bench.build(seen('select cast(count(*) as int) as days'), some)
  expect(await bench.rows('from fct_seen')).toEqual([{ days: 1 }])
})

it('a check of unchanged rows is not run again, and its result is recorded', async () => {
  const bench = await builtTwice('digest-1', 'digest-1')
  const results = await bench.rows('select distinct status from meta.check_results')
  expect(results).toEqual([{ status: 'pass' }])
})

/** Builds twice, the second time with a wrong total that no build made. */
function builtTwiceWithTest(test: string): Promise<Bench> {
  return builtTwiceWith({ 'tests/no_999.sql': test })
}

async function builtTwiceWith(changes: Files): Promise<Bench> {
  const files = { ...DAILY, ...changes }
  const bench = await Bench.open()
  await serve(bench, ROWS)
  await bench.build(files, { sourceContent: () => 'digest' })
  await bench.write('create or replace table fct_total as select 999 as sessions')
  await bench.build(files, { sourceContent: () => 'digest' })
  return bench
}

const NO_999 = "select * from {{ ref('fct_total') }} where sessions = 999"

it('a singular test of unchanged models is not run again, and its result is recorded', async () => {
  const bench = await builtTwiceWithTest(NO_999)
  const result = "select status from meta.check_results where check_name = 'no_999'"
  expect(await bench.rows(result)).toEqual([{ status: 'pass' }])
})

it('a singular test that is not run again keeps the table of its failures', async () => {
  const bench = await builtTwiceWithTest(
    `{{ config(severity='warn', store_failures=true, schema='audit') }}\n${NO_999}`,
  )
  expect(await bench.rows('from audit.no_999')).toEqual([])
})

it('a singular test of unchanged models is run again if the table of its failures is missing', async () => {
  const files = {
    ...DAILY,
    'tests/no_999.sql': `{{ config(severity='warn', store_failures=true, schema='audit') }}\n${NO_999}`,
  }
  const bench = await Bench.open()
  await serve(bench, ROWS)
  await bench.build(files, { sourceContent: () => 'digest' })
  await bench.write('drop table audit.no_999')
  await bench.build(files, { sourceContent: () => 'digest' })
  expect(await bench.rows('from audit.no_999')).toEqual([])
})

it.each([
  ['asks for the time', `${NO_999} and current_date > '2020-01-01'`],
  ['reads a table of the pipeline', `${NO_999} and (select count(*) from meta.intervals) >= 0`],
  ['reads a file', `${NO_999} and '/a.csv' is not null`],
  ['reads a source', `${NO_999} and (select count(*) from {{ source('platform', 'users') }}) > 0`],
  ['reads no model', 'select * from main.fct_total where sessions = 999'],
])('a singular test that %s is run again', async (_, test) => {
  await expect(builtTwiceWithTest(test)).rejects.toThrow('no_999')
})

const TOTAL = DAILY['models/fct_total.sql'] ?? ''
const totals = 'select cast(sessions as int) as sessions from fct_total'

it.each([
  ['asks for the time', 'models/fct_total.sql', `${TOTAL}where now() > '2020-01-01'\n`],
  ['reads a file', 'models/fct_total.sql', `${TOTAL}where '/a.csv' is not null\n`],
  [
    'reads a view that draws a random number',
    'models/stg_users.sql',
    "select * from {{ source('platform', 'users') }} where random() >= 0\n",
  ],
])('a table that %s is built again', async (_, file, sql) => {
  const bench = await builtTwiceWith({ [file]: sql })
  expect(await bench.rows(totals)).toEqual([{ sessions: 4 }])
})

it('a table whose comment speaks of the time is reused', async () => {
  const bench = await builtTwiceWith({ 'models/fct_total.sql': `${TOTAL}-- as of now\n` })
  expect(await bench.rows(totals)).toEqual([{ sessions: 999 }])
})

/** A model without a source, whose rows are inserted by the hook of another model. */
const RECORDED: Files = {
  ...DAILY,
  'models/recorded.sql': `{{ config(materialized='incremental', unique_key=['activity_date']) }}
select cast(null as date) as activity_date where 1 = 0
`,
  'models/recorded.yml': `models:
  - name: recorded
    description: One row per day.
    data_tests:
      - unique_key: {arguments: {columns: [activity_date]}}
    columns:
      - {name: activity_date, description: The day.}
`,
  'models/fct_total.sql': `{{
    config(
        materialized='table',
        pre_hook="insert into {{ ref('recorded') }} select activity_date from {{ ref('stg_users') }}"
    )
}}
select sum(sessions) as sessions from {{ ref('fct_user_day') }}
`,
}

it('the checks of a reused table run again when a hook of another model has written to it', async () => {
  const bench = await Bench.open()
  await serve(bench, ROWS)
  await bench.build(RECORDED)
  await expect(bench.build(RECORDED)).rejects.toThrow('recorded_activity_date')
})

it('the plan says that a pre-hook may write to a table that is reused', async () => {
  const bench = await Bench.open()
  await serve(bench, ROWS)
  await bench.build(RECORDED)
  const reason = 'unchanged, but a pre-hook of another model may write to it'
  expect(await bench.plan(RECORDED)).toContainEqual({ model: 'recorded', action: 'reuse', reason })
})

it('the plan says why an unchanged table is built when no incremental model is kept', async () => {
  const files: Files = {
    ...DAILY,
    'models/other.sql': 'select 1 as number\n',
    'models/other.yml': `models:
  - name: other
    description: One row.
    columns:
      - {name: number, description: One.}
`,
  }
  const changed = Object.fromEntries(
    Object.entries(files).map(([name, text]) => [
      name,
      text.includes("'incremental'") ? `${text}-- changed\n` : text,
    ]),
  )
  const bench = await Bench.open()
  await serve(bench, ROWS)
  await bench.build(files)
  expect(await bench.plan(files)).toContainEqual({
    model: 'other',
    action: 'reuse',
    reason: 'the same rows',
  })
  expect(await bench.plan(changed)).toContainEqual({
    model: 'other',
    action: 'create',
    reason: 'every table is built in a new file',
  })
})

it('no model of the project uses the time or random numbers, so that it can be reused', () => {
  expect(JSON.stringify(project.models.map(({ template }) => template))).toContain('group by')
  const asking = [...project.models, ...project.tests].filter(({ template }) =>
    /current_date|current_timestamp|now\s*\(|today\s*\(|random|uuid|run_started_at/i.test(
      JSON.stringify(template),
    ),
  )
  expect(asking.map(({ name }) => name)).toEqual([])
})

it('a build of another point in time with the same rows is published, because it says its time', async () => {
  const bench = await Bench.open()
  await serve(bench, [['a', '2026-01-14', 'u1', 1, 'v1']])
  for (const asOf of [Date.UTC(2026, 0, 20), Date.UTC(2026, 0, 21)])
    await bench.build(DAILY, { asOf, runId: `as of ${asOf}` })
  const [record] = await readRecords(bench.target)
  expect(record?.asOf).toBe('2026-01-21T00:00:00.000Z')
})
