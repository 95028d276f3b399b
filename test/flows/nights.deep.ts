import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startEmulator, type Emulator } from '../../src/emulator/emulator.ts'
import { RESOURCES } from '../../src/lake/resources.ts'
import { Database, type Row } from '../../src/lib/duckdb.ts'
import { command } from '../support/command.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { environmentOf } from '../support/stand-in.ts'

const MS_PER_DAY = 86_400_000
const FIRST_NIGHT = Date.parse('2026-01-22T05:00:00Z')
const NIGHTS = 5

/** The night from which on a day is served with other rows. Each is rechecked after that. */
const RESTATED: Readonly<Record<string, string>> = {
  '2026-01-17': '2026-01-23', // has no rows any more
  '2026-01-19': '2026-01-24', // had no rows
  '2026-01-21': '2026-01-24',
  '2026-01-24': '2026-01-26',
}

/** Marts of versions, whose number depends on how often a day was requested. */
const HISTORIES = ['fct_restatement', 'mart_data_health']

/** Marts of entity resources, which this platform does not serve, and marts that need more weeks. */
const EMPTY = [
  'dim_computer',
  'dim_control_current',
  'dim_readiness_report',
  'fct_computer_metric',
  'fct_control_change',
  'fct_hook_event',
  'fct_message',
  'fct_provisioning_step',
  'fct_readiness_criterion',
  'fct_session',
  'fct_usage_limit',
  'mart_allowed_emails',
  'mart_anomalies',
  'mart_policy_usage',
  'mart_ramp_week',
  'mart_readiness_trend',
  'mart_session_outcomes',
  'mart_session_retention',
  'mart_spend_bridge',
]

/** Without them their marts would be empty. */
const SEEDS: Readonly<Record<string, string>> = {
  licences: 'valid_from,team,seats,monthly_price,currency\n2026-01-01,,12,40,EUR\n',
  events: 'event_date,name,description,team\n2026-01-19,Rollout,,\n',
}

interface Answer {
  readonly data: readonly { readonly date: string }[]
  readonly meta: object
}

/** A platform that from a certain night on serves days with the rows of another platform. */
async function changingPlatform(now: () => number): Promise<Emulator> {
  const other = await startEmulator({ users: 12, seed: 2, firstDay: '2026-01-12', now })
  const isRestated = (day: string): boolean => {
    const since = RESTATED[day]
    return since !== undefined && now() >= Date.parse(since)
  }
  const platform = await startEmulator({
    users: 12,
    now,
    intercept: async ({ path, query, headers, answer }) => {
      // Snapshots cannot be fetched later, so of them N nights do not equal one.
      if (!path.startsWith('/api/v1/analytics/')) return new Response('{}', { status: 404 })
      const own = await answer()
      if (own.status !== 200) return undefined
      const authorization = headers.get('authorization') ?? ''
      const askTheOther = async (): Promise<Answer> => {
        const url = `${other.url}${path}?${query.toString()}`
        return (await (await fetch(url, { headers: { authorization } })).json()) as Answer
      }
      if (path.endsWith('/users')) {
        const isOthers = isRestated(query.get('startDate') ?? '')
        return isOthers ? Response.json(await askTheOther()) : undefined
      }
      const [ours, theirs] = [(await own.clone().json()) as Answer, await askTheOther()]
      const data = [
        ...ours.data.filter(({ date }) => !isRestated(date)),
        ...theirs.data.filter(({ date }) => isRestated(date)),
      ]
      return Response.json({ ...ours, data })
    },
  })
  onTestFinished(async () => {
    await platform.close()
    await other.close()
  })
  return platform
}

/** On one thread and on all: rows that depend on their order would differ. */
async function folderOf(platform: Emulator, threads: '1' | '') {
  const data = await temporaryFolder()
  await mkdir(join(data, 'seeds'))
  for (const [name, lines] of Object.entries(SEEDS)) {
    await writeFile(join(data, 'seeds', `${name}.csv`), lines)
  }
  const environment = {
    ...environmentOf(platform, data),
    AGENT_WAREHOUSE_THREADS: threads,
  }
  const run = async (name: string): Promise<void> => {
    const outcome = await command([name, '--log', 'none'], environment)
    expect(outcome, outcome.err).toMatchObject({ code: 0 })
  }
  return { data, run }
}

type Work = (database: Database) => Promise<void>

async function inWarehouse(data: string, work: Work): Promise<void> {
  const database = await Database.open(join(data, 'warehouse.duckdb'), { readOnly: true })
  try {
    await work(database)
  } finally {
    database.close()
  }
}

/** The rows of every mart, in order, as text. */
async function martsOf(data: string): Promise<Record<string, string[]>> {
  const marts: Record<string, string[]> = {}
  await inWarehouse(data, async (database) => {
    const tables = await database.table(
      `select table_name from information_schema.tables where table_schema = 'main'`,
    )
    for (const [table] of tables.rows) {
      if (typeof table !== 'string' || HISTORIES.includes(table)) continue
      const { rows } = await database.table(`from main.${table} order by all`)
      marts[table] = rows.map((row) => JSON.stringify(row))
    }
  })
  return marts
}

async function rowsOf(data: string, sql: string): Promise<readonly Row[]> {
  const found: Row[] = []
  await inWarehouse(data, async (database) => {
    found.push(...(await database.rows(sql)))
  })
  return found
}

describe('law 6: N nights and one full load', () => {
  it('make equal marts, restated days included, and a build from scratch makes the same', async () => {
    let now = FIRST_NIGHT
    const platform = await changingPlatform(() => now)
    const nightly = await folderOf(platform, '')
    for (let night = 0; night < NIGHTS; night += 1) {
      now = FIRST_NIGHT + night * MS_PER_DAY
      await nightly.run('run')
    }
    const once = await folderOf(platform, '1')
    await once.run('run')

    const marts = await martsOf(nightly.data)
    expect(Object.keys(marts).length).toBeGreaterThan(20)
    const isEmpty = (name: string): boolean => marts[name]?.length === 0
    expect(Object.keys(marts).filter(isEmpty).sort()).toEqual(EMPTY)
    expect(await martsOf(once.data)).toEqual(marts)

    const analytics = RESOURCES.map(({ name }) => `'${name}'`).join(', ')
    const states = `select resource, activity_date, status, row_count from meta.intervals
      where resource in (${analytics})`
    expect(await rowsOf(nightly.data, states)).toEqual(await rowsOf(once.data, states))
    const restated = await rowsOf(
      nightly.data,
      `select activity_date from meta.intervals where versions > 1 group by 1 order by 1`,
    )
    expect(restated.map(({ activity_date }) => activity_date)).toEqual(Object.keys(RESTATED))

    await rm(join(nightly.data, 'lake', 'base'), { recursive: true })
    await rm(join(nightly.data, 'state', 'base'), { recursive: true })
    await rm(join(nightly.data, 'warehouse.duckdb'))
    await nightly.run('build')
    expect(await martsOf(nightly.data)).toEqual(marts)
  }, 300_000)
})
