import { copyFile, cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { startEmulator } from '../../src/emulator/emulator.ts'
import { baseGlob } from '../../src/lake/layout.ts'
import { parseDay } from '../../src/lib/days.ts'
import { Database } from '../../src/lib/duckdb.ts'
import { packageRoot } from '../../src/lib/package.ts'
import { catalogueOf, differencesOf, textOf } from '../dbt/relations.ts'
import { landGolden } from '../golden/land.ts'
import { buildLake } from '../model/lake-build.ts'
import { landPlatform } from '../model/platform/served.ts'
import { command } from '../support/command.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { Lake } from '../support/lake.ts'
import { Cluster } from './cluster.ts'

const NOW = Date.parse('2026-02-09T05:00:00Z')
const LAST_DAY = parseDay('2026-02-08', 'the last day')
const GOLDEN = join(packageRoot, 'test', 'golden', 'awkward')

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
    const emulator = await startEmulator({ orgId: `org_${name}`, firstDay, users, now: () => NOW })
    onTestFinished(() => emulator.close())
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

/** Marts that these weeks have no row for: their unit tests, which Spark runs too, have some. */
const NEED_MORE_WEEKS = ['main.mart_anomalies', 'main.mart_ramp_week', 'main.mart_spend_bridge']

/** The tables that hold no row. */
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

it('law 6: Spark makes every table of a fleet as DuckDB does, with the work on both workers', async () => {
  const data = await temporaryFolder()
  await landFleet(data)
  const lake = await Lake.open(data)
  await mkdir(join(data, 'seeds'), { recursive: true })
  await cp(join(GOLDEN, 'seeds'), join(data, 'seeds'), { recursive: true })
  await landGolden(lake, GOLDEN)
  await landPlatform(lake)

  const ours = join(data, 'ours.duckdb')
  const onDuckdb = await buildLake(lake, LAST_DAY, { fullRefresh: true })
  await copyFile(join(data, 'warehouse.duckdb'), ours)
  expect(await emptyTables(ours)).toEqual(NEED_MORE_WEEKS)

  const sourceUrl = (_: string, table: string): string => `file:${baseGlob(data, table)}`
  const spark = cluster.engine(data, { sourceUrl })
  const onSpark = await buildLake(lake, LAST_DAY, { fullRefresh: true, spark })
  const pair = { ours, theirs: join(data, 'warehouse.duckdb') }
  const [expected, found] = [await catalogueOf(pair.ours), await catalogueOf(pair.theirs)]
  expect(expected.relations.length).toBeGreaterThan(90)
  expect(found.relations).toEqual(expected.relations)
  expect(found.columns).toEqual(expected.columns)
  expect(await differencesOf(pair)).toEqual([])

  const outcomes = ({ checks }: typeof onSpark): unknown =>
    checks.map(({ check, status, failures }) => [check, status, failures])
  expect(outcomes(onSpark)).toEqual(outcomes(onDuckdb))
  expect(onSpark.unitTests.map(({ name }) => name)).toEqual(
    onDuckdb.unitTests.map(({ name }) => name),
  )
  const tasks = await cluster.tasksByWorker()
  expect(tasks).toHaveLength(2)
  expect(Math.min(...tasks)).toBeGreaterThan(50)
})
