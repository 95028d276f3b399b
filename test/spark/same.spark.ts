import { randomUUID } from 'node:crypto'
import { copyFile, cp, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { baseGlob } from '../../src/lake/layout.ts'
import { addDays, parseDay } from '../../src/lib/days.ts'
import type { RunEvent } from '../../src/lib/events.ts'
import { Database } from '../../src/lib/duckdb.ts'
import { packageRoot } from '../../src/lib/package.ts'
import type { BuildOptions } from '../../src/model/shared/context.ts'
import type { BuildResult } from '../../src/model/build/build.ts'
import { baseContents } from '../../src/normalize/state.ts'
import { catalogueOf, differencesOf, textOf } from '../dbt/relations.ts'
import { landGolden } from '../golden/land.ts'
import { buildLake } from '../model/lake-build.ts'
import { landPlatform } from '../model/platform/served.ts'
import { command } from '../support/command.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { Lake, ORG } from '../support/lake.ts'
import { Cluster } from './cluster.ts'
import { standIn } from '../support/stand-in.ts'

const NOW = Date.parse('2026-02-09T05:00:00Z')
const GOLDEN = join(packageRoot, 'test', 'golden')

let cluster: Cluster
beforeAll(async () => {
  cluster = await Cluster.start()
})
afterAll(() => cluster.stop())

/** Two organisations of the stand-in platform, in one data folder. */
async function landFleet(data: string): Promise<void> {
  const organisations: string[] = []
  const environment: Record<string, string> = { AGENT_WAREHOUSE_DATA: data }
  for (const [name, users, firstDay] of [
    ['one', 30, '2025-12-20'],
    ['two', 8, '2026-01-14'],
  ] as const) {
    const emulator = await standIn({ orgId: `org_${name}`, firstDay, users, now: () => NOW })
    const { url, appUrl, keys } = emulator
    organisations.push(
      `  - { name: ${name}, base_url: '${url}', app_url: '${appUrl}', key_env: KEY_${name} }\n`,
    )
    environment[`KEY_${name}`] = keys.manager
  }
  const config = join(data, 'agent-warehouse.yaml')
  await writeFile(config, `rate: 2000\norganisations:\n${organisations.join('')}`)
  const outcome = await command(['run', '--log', 'none', '--config', config], environment)
  expect(outcome, outcome.err).toMatchObject({ code: 0 })
}

/** The tables without rows. */
async function emptyTables(path: string): Promise<string[]> {
  const db = await Database.open(path, { readOnly: true })
  try {
    const empty: string[] = []
    const { rows } = await db.table(
      `select schema_name || '.' || table_name from duckdb_tables()
        where schema_name not in ('meta', 'audit') order by 1`,
    )
    for (const name of rows.flat().map(textOf)) {
      const [row] = await db.rows(`select count(*) as n from ${name}`)
      if (row?.['n'] === '0') empty.push(name)
    }
    return empty
  } finally {
    db.close()
  }
}

/** The content of base of all organisations, so that a build knows what did not change. */
async function contentOf(lake: Lake): Promise<NonNullable<BuildOptions['sourceContent']>> {
  await lake.normalize()
  const contents = await baseContents(lake.data, [ORG, 'org_one', 'org_two'])
  const intervals = randomUUID() // each night changes them
  return (_, table) => contents.get(table) ?? (table === 'intervals' ? intervals : null)
}

async function expectSame(ours: string, theirs: string): Promise<void> {
  const [expected, found] = [await catalogueOf(ours), await catalogueOf(theirs)]
  expect(expected.relations.length).toBeGreaterThan(90)
  expect(found.relations).toEqual(expected.relations)
  expect(found.columns).toEqual(expected.columns)
  expect(await differencesOf({ ours, theirs })).toEqual([])
}

const dayBefore = (night: string) => addDays(parseDay(night, 'the night'), -1)

const outcomesOf = ({ checks }: BuildResult): unknown =>
  checks.map(({ check, status, failures }) => [check, status, failures])

it('law 6: Spark builds every table of a fleet as DuckDB does, in full and incrementally, on both workers', async () => {
  const data = await temporaryFolder()
  await landFleet(data)
  const lake = await Lake.open(data)
  const [awkward, weeks] = [join(GOLDEN, 'awkward'), join(GOLDEN, 'weeks')]
  await cp(join(weeks, 'seeds'), join(data, 'seeds'), { recursive: true })
  await copyFile(join(awkward, 'seeds', 'licences.csv'), join(data, 'seeds', 'licences.csv'))
  const fetched = (await readdir(join(weeks, 'input'))).sort()
  const [first = '', last = ''] = [fetched[0], fetched.at(-1)]
  await landGolden(lake, awkward)
  await landGolden(lake, weeks, (night) => night === first)
  await landPlatform(lake)

  const sourceUrl = (_: string, table: string): string => `file:${baseGlob(data, table)}`
  const spark = cluster.engine(data, { sourceUrl })
  const [target, ours] = [join(data, 'warehouse.duckdb'), join(data, 'ours', 'warehouse.duckdb')]
  const night = async (day: string, runId: string) => {
    const both = { runId, sourceContent: await contentOf(lake) }
    const [tests, sparkTests]: [string[], string[]] = [[], []]
    const namesTo = (names: string[]) => (event: RunEvent) => {
      if (event.type === 'check.finished') names.push(event.check)
    }
    const own = { ...both, target: ours, emit: namesTo(tests) }
    const onDuckdb = await buildLake(lake, dayBefore(day), own)
    const theirs = { ...both, target, spark, emit: namesTo(sparkTests) }
    const onSpark = await buildLake(lake, dayBefore(day), theirs)
    await expectSame(ours, target)
    expect(sparkTests.sort()).toEqual(tests.sort())
    return { onDuckdb, onSpark }
  }

  const { onDuckdb, onSpark } = await night(first, 'run-1')
  expect(outcomesOf(onSpark)).toEqual(outcomesOf(onDuckdb))
  const tasks = await cluster.tasksByWorker()
  expect(tasks).toHaveLength(2)
  expect(Math.min(...tasks)).toBeGreaterThan(50)

  await landGolden(lake, weeks, (night) => night !== first)
  const second = await night(last, 'run-2')
  expect(outcomesOf(second.onSpark)).toEqual(outcomesOf(second.onDuckdb))
  const intervals = ({ models }: BuildResult): unknown =>
    models.flatMap((model) => ('intervals' in model ? [[model.name, model.intervals]] : []))
  expect(intervals(second.onSpark)).toEqual(intervals(second.onDuckdb))
  const isMade = (model: string): boolean =>
    second.onSpark.models.some(({ name, durationMs }) => name === model && durationMs > 0)
  expect(isMade('fct_user_day')).toBe(true)
  // No computer metric came in the second night.
  expect(isMade('fct_computer_metric')).toBe(false)

  const whole = join(data, 'whole', 'warehouse.duckdb')
  await buildLake(lake, dayBefore(last), { target: whole })
  expect(await differencesOf({ ours: whole, theirs: target })).toEqual([])
  expect(await emptyTables(whole)).toEqual([])
})
