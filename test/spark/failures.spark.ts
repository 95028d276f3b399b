import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { AppError, ExitCode } from '../../src/lib/errors.ts'
import { DAILY, serve, type UserDay } from '../model/daily.ts'
import { Bench, TINY, type Files } from '../model/fixture.ts'
import { Cluster } from './cluster.ts'

let cluster: Cluster
beforeAll(async () => {
  cluster = await Cluster.start()
})
afterAll(() => cluster.stop())

async function failure(work: Promise<unknown>): Promise<AppError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (error instanceof AppError) return error
  throw new Error('it did not fail as expected', { cause: error })
}

const YML = TINY['models/marts/fct_user.yml'] ?? ''

/** Its model sums sessions, and a unit test covers that. */
const TESTED: Files = {
  ...TINY,
  'models/marts/fct_user.yml': `${YML}unit_tests:
  - name: sessions_add_up
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
`,
}

const SQL = TESTED['models/marts/fct_user.sql'] ?? ''

it('law 6: Spark builds the same tables as DuckDB, and meta.models names the engine', async () => {
  const bench = await Bench.open()
  await bench.build(TESTED)
  const rows = await bench.rows('from fct_user order by all')
  const spark = cluster.engine(bench.data)
  const built = await bench.build(TESTED, { spark, fullRefresh: true, runId: 'run-2' })
  expect(await bench.rows('from fct_user order by all')).toEqual(rows)
  expect(built.models.map(({ name, rows }) => [name, rows])).toEqual([
    ['stg_user', null],
    ['fct_user', 3],
  ])
  const tested = bench.events.filter(
    (event) => event.type === 'check.finished' && event.check === 'sessions_add_up',
  )
  expect(tested).toHaveLength(2)
  expect(built.checks.map(({ status }) => status)).toEqual(['pass', 'pass'])
  expect(await bench.rows('select distinct engine from meta.models')).toEqual([
    { engine: expect.stringMatching(/^Spark 4\.1\.1, DuckDB v/) as string },
  ])
  expect(existsSync(spark.folder)).toBe(false)
})

/** A condition that a pre-hook and a filter use on both engines. */
const isThere = (days: string): string => `exists (
  select 1 from ${days} as days
  where days.org_id = own.org_id and days.activity_date = own.activity_date`
const DAYS: Files = {
  ...DAILY,
  'models/fct_user_day.sql': `{{ config(
    materialized='incremental',
    unique_key=['org_id', 'activity_date'],
    pre_hook="{% if is_incremental() %}delete from {{ this }} as own
      where not ${isThere("{{ ref('stg_users') }}")} and days.day_digest = own.day_digest)
      {% endif %}"
  ) }}
select own.* from {{ ref('stg_users') }} as own
{% if is_incremental() %}where not ${isThere('{{ this }}')}){% endif %}
`,
}

it('law 6: an incremental build on Spark computes the days that are due, and none when none is due', async () => {
  const bench = await Bench.open()
  const spark = cluster.engine(bench.data)
  const night = async (runId: string, rows: readonly UserDay[], engine = spark) => {
    await serve(bench, rows)
    const content = JSON.stringify(rows)
    const { models } = await bench.build(DAYS, {
      ...{ runId, spark: engine, sourceContent: () => content },
    })
    const served = rows.map(([org, day, user, sessions]) => ({ org, day, user, sessions }))
    const made = `select org_id as org, activity_date::varchar as day, user_id as user,
      sessions::int as sessions from fct_user_day order by all`
    expect(await bench.rows(made)).toEqual(served)
    const total = served.reduce((sum, { sessions }) => sum + sessions, 0)
    expect(await bench.rows('from fct_total')).toEqual([{ sessions: String(total) }])
    return models.find(({ name }) => name === 'fct_user_day')?.intervals
  }
  const kept: UserDay = ['a', '2026-01-15', 'u1', 3, 'v1']
  const first: UserDay[] = [
    ['a', '2026-01-14', 'u1', 1, 'v1'],
    ['a', '2026-01-14', 'u2', 2, 'v1'],
    kept,
    ['b', '2026-01-14', 'u1', 1, 'v1'],
  ]
  expect(await night('run-1', first)).toBeUndefined()
  const second: UserDay[] = [
    ['a', '2026-01-14', 'u2', 3, 'v2'],
    kept,
    ['a', '2026-01-16', 'u1', 2, 'v1'],
  ]
  expect(await night('run-2', second)).toBe(2)
  const absent = cluster.engine(bench.data, { master: 'spark://127.0.0.1:1' })
  expect(await night('run-3', second, absent)).toBe(0)
})

it('law 7: a wrong table fails its checks and unit tests on Spark, and nothing is published', async () => {
  const bench = await Bench.open()
  await bench.build(TESTED)
  const before = await readFile(bench.target)
  const twice = `${SQL.replace(/order by 1\s*$/, '')} union all select 'u1', cast(1 as bigint)`
  const broken = {
    ...TESTED,
    'models/marts/fct_user.yml': YML,
    'models/marts/fct_user.sql': twice,
  }
  const spark = cluster.engine(bench.data)
  const error = await failure(bench.build(broken, { spark, fullRefresh: true }))
  expect(error.exitCode).toBe(ExitCode.checksFailed)
  expect(error.message).toContain('unique_fct_user_user_id (1 row)')

  const halved = { ...TESTED, 'models/marts/fct_user.sql': SQL.replace('sum(', 'max(') }
  const other = await failure(bench.build(halved, { spark, fullRefresh: true }))
  expect(other.exitCode).toBe(ExitCode.checksFailed)
  expect(other.hint).toContain('returned, but not expected\n    {"user_id":"u1","sessions":2}')
  expect(await readFile(bench.target)).toEqual(before)
})

it('the error of a statement that Spark refuses names the model, the unit test and the line', async () => {
  const bench = await Bench.open()
  const spark = cluster.engine(bench.data)
  const sql = SQL.replace('sum(sessions)', 'sum(sessions) // 1')
  const tested = { ...TESTED, 'models/marts/fct_user.sql': sql }
  const untested = { ...tested, 'models/marts/fct_user.yml': YML }
  const { message } = await failure(bench.build(tested, { spark }))
  expect(message).toContain("fct_user.sql: model 'fct_user': unit test 'sessions_add_up': [PARSE_")
  expect(message).toMatch(/LINE \d+: .*cast\(sum\(sessions\) \/\/ 1 as bigint\)/)
  const other = await failure(bench.build(untested, { spark }))
  expect(other.message).toContain("fct_user.sql: model 'fct_user': [PARSE_")
  expect(other.message).toMatch(/LINE 1: select user_id, cast\(sum\(sessions\) \/\/ 1/)
})

it('law 7: a killed Spark executor fails the build, and the published warehouse stays', async () => {
  const bench = await Bench.open()
  await bench.build(TINY)
  const before = await readFile(bench.target)
  const digits = 'values (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)'
  const factors = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k']
  const many = factors.map((name) => `(${digits}) as ${name} (n)`).join(' cross join ')
  const slow = `select user_id, sessions + (select sum(a.n * b.n * k.n) * 0 from ${many}) as sessions
    from {{ ref('stg_user') }}`
  const spark = cluster.engine(bench.data, { settings: { 'spark.task.maxFailures': '1' } })
  const building = failure(
    bench.build({ ...TINY, 'models/marts/fct_user.sql': slow }, { spark, fullRefresh: true }),
  )
  const ended = new AbortController()
  void building.finally(() => {
    ended.abort()
  })
  // The loss of an executor without a task is no failure, and on a busy machine it takes long to
  // get one, so each pause is longer than the last.
  for (let pause = 3_000; !ended.signal.aborted; pause *= 1.5) {
    await delay(pause)
    if (existsSync(join(spark.folder, 'run-1', 'fct_user'))) cluster.killExecutors()
  }
  const error = await building
  expect(error.exitCode).toBe(ExitCode.unexpected)
  expect(error.message).toMatch(/ExecutorLostFailure|executor/i)
  expect(await readFile(bench.target)).toEqual(before)
  expect(existsSync(spark.folder)).toBe(false)
})
