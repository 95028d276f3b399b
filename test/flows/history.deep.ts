import { readdir, rm, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Database, type Cell, type Row } from '../../src/lib/duckdb.ts'
import { command, type Outcome } from '../support/command.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { environmentOf, standIn } from '../support/stand-in.ts'

const FIRST_NIGHT = Date.parse('2026-01-22T05:00:00Z')
const MS_PER_DAY = 86_400_000

/** What the platform restates on the second night, and a new field. */
const RESTATED: Readonly<Record<string, readonly [RegExp, string]>> = {
  activity: [/"sessions":(\d+)/g, '"sessions":1$1,"agents":7'],
  users: [/"sessions":(\d+)/g, '"sessions":2$1'],
  tokens: [/"output_tokens":(\d+)/g, '"output_tokens":3$1'],
}

/** Two nights of a platform that restates its last days in between, with the command. */
async function twoNights() {
  let now = FIRST_NIGHT
  const emulator = await standIn({
    users: 6,
    now: () => now,
    intercept: async ({ path, query, answer }) => {
      const [pattern, otherwise] = RESTATED[path.split('/').at(-1) ?? ''] ?? []
      const isNamed = query.has('group_by') || pattern === undefined
      if (now === FIRST_NIGHT || isNamed || otherwise === undefined) return undefined
      const response = await answer()
      const text = (await response.text()).replaceAll(pattern, otherwise)
      return new Response(text, { status: response.status, headers: response.headers })
    },
  })
  const data = await temporaryFolder()
  const environment = environmentOf(emulator, data)
  const night = () => done(command(['run', '--log', 'none'], environment))
  expect((await night()).out).toMatch(/\$\.seat of users \(\w+\) is not documented/)
  const first = await publishedIn(data)
  now += MS_PER_DAY
  expect((await night()).out).toMatch(/\$\.agents of activity \(\w+\) is not documented/)
  return { environment, data, first, second: await publishedIn(data) }
}

async function done(running: Promise<Outcome>): Promise<Outcome> {
  const outcome = await running
  expect(outcome, outcome.err).toMatchObject({ code: 0 })
  return outcome
}

/** Rows of the published warehouse. */
async function ask(data: string, sql: string): Promise<readonly Row[]> {
  const database = await Database.open(join(data, 'warehouse.duckdb'), { readOnly: true })
  try {
    return await database.rows(sql)
  } finally {
    database.close()
  }
}

/** Every mart, row by row. */
async function publishedIn(data: string): Promise<Marts> {
  const tables = await ask(
    data,
    `select table_name as name from information_schema.tables
     where table_schema = 'main' and table_catalog = current_database() order by 1`,
  )
  const marts: Record<string, readonly Row[]> = {}
  for (const { name } of tables) {
    if (typeof name === 'string') marts[name] = await ask(data, `from ${name} order by all`)
  }
  return marts
}

const DRIFT = `select path, kind, first_day, last_day, days, served_type from meta.schema_drift
  order by resource, path`

/** Where the stand-in platform differs from its documentation by default. */
const STAND_IN_DRIFT = [
  ...['$.settings.auditStream', '$.settings.betaPlanner'],
  ...['$.cache_write_tokens', '$.hooks_by_event', '$.delegation_level', '$.seat'],
]

const INTERVALS = `select * exclude (attempts) from meta.intervals order by all`

describe('build --as-of', () => {
  it('between two nights publishes the warehouse of the first, and after both that of the second', async () => {
    const { environment, data, first, second } = await twoNights()
    const build = (...args: string[]) => done(command(['build', ...args], environment))
    const status = async () => (await done(command(['status'], environment))).out
    const expectLatest = async (): Promise<void> => {
      expect(await status()).not.toContain('as it was known')
      expect(await readdir(join(data, 'state'))).not.toContain('as-of')
    }
    const intervals = await ask(data, INTERVALS)
    const drift = await ask(data, DRIFT)
    expectRestatements(first, second)
    expect(drift.find(({ path }) => path === '$.agents')).toMatchObject({
      kind: 'unknown',
      served_type: 'integer',
      last_day: '2026-01-22',
    })

    const early = await command(['build', '--as-of', '2026-01-15'], environment)
    expect(early).toMatchObject({ code: 2 })
    expect(early.err).toContain('nothing had landed by 2026-01-15T23:59:59.999Z')
    expect(early.err).toContain('The first day landed at 2026-01-22T05:0')

    await build('--as-of', '2026-01-23')
    expect(await publishedIn(data)).toEqual(second)
    expect(await ask(data, INTERVALS)).toEqual(intervals)
    expect(await ask(data, DRIFT)).toEqual(drift)

    // the day is missing now, and was not on the first night
    await damageNewest(join(data, 'lake/raw/activity/org=org_demo/date=2026-01-21'))
    await rm(join(data, 'lake/base/activity_days'), { recursive: true })
    const hurt = await command(['build', '--log', 'none'], environment)
    expect(hurt, hurt.err).toMatchObject({ code: 3 })
    expect(hurt.out).not.toContain('not documented')
    await expectLatest()
    const latest = await publishedIn(data)
    expect(latest).not.toEqual(second)

    const expected = 'as it was known at 2026-01-22T20:00:00.000Z'
    expect((await build('--as-of', '2026-01-22T21:00:00+01:00')).out).toContain(expected)
    expect(await publishedIn(data)).toEqual(first)
    expect(await status()).toContain('as it was known at 2026-01-22T20:00:00Z')
    expect(
      await ask(
        data,
        "select max(activity_date) as last, max(versions) as n from meta.intervals where resource = 'users'",
      ),
    ).toEqual([{ last: '2026-01-21', n: '1' }])
    const then = await ask(data, DRIFT)
    expect(then.map(({ path }) => path)).toEqual([...STAND_IN_DRIFT])
    // the views of the staging models read what was known then, too
    const staged = 'select sum(sessions) as n from staging.stg_platform__users'
    const asked = await done(command(['query', staged, '--json'], environment))
    expect(JSON.parse(asked.out)).toEqual(
      await ask(data, 'select cast(sum(sessions) as integer) as n from fct_user_day'),
    )
    const some = await command(['build', '--select', 'dim_user'], environment)
    expect(some).toMatchObject({ code: 2 })
    expect(some.err).toContain(
      'the published warehouse was built with --as-of 2026-01-22T20:00:00.000Z',
    )
    const proof = await command(['verify'], environment)
    expect(proof).toMatchObject({ code: 2 })
    expect(proof.err).toContain('Return to the latest data first: agent-warehouse build')

    await build('--log', 'none')
    expect(await publishedIn(data)).toEqual(latest)
    await expectLatest()
  })
})

/** Cuts off the end of a day's second version. */
async function damageNewest(folder: string): Promise<void> {
  const [, second = ''] = (await readdir(folder)).sort()
  await truncate(join(folder, second), 100)
}

type Marts = Readonly<Record<string, readonly Row[]>>

/** Each change has both values and the time at which each was fetched. */
function expectRestatements(first: Marts, second: Marts): void {
  expect(first['fct_restatement']).toEqual([])
  const restated = second['fct_restatement'] ?? []
  const named = restated.map(({ resource, metric }) => JSON.stringify([resource, metric]))
  expect([...new Set(named)].sort()).toEqual([
    '["activity","sessions"]',
    '["tokens","by_model.output_tokens"]',
    '["tokens","by_user.by_model.output_tokens"]',
    '["tokens","output_tokens"]',
    '["users","sessions"]',
  ])
  const [before, after] = [sessionsOf(first), sessionsOf(second)]
  for (const row of restated.filter(({ resource }) => resource === 'activity')) {
    const day = row['activity_date']
    expect(row).toMatchObject({ org_id: 'org_demo', entity_key: 'org_demo' })
    expect([row['old_value'], row['new_value']]).toEqual([before.get(day), after.get(day)])
    expect(row['old_fetched_at']).toContain('2026-01-22')
    expect(row['new_fetched_at']).toContain('2026-01-23')
  }
}

function sessionsOf(marts: Marts): ReadonlyMap<Cell | undefined, Cell | undefined> {
  const days = marts['fct_org_day'] ?? []
  return new Map(days.map((row) => [row['activity_date'], row['sessions']]))
}
