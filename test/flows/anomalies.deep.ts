import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startEmulator, type Emulator, type EmulatorOptions } from '../../src/emulator/emulator.ts'
import { addDays, eachDay, parseDay } from '../../src/lib/days.ts'
import { Database, type Row } from '../../src/lib/duckdb.ts'
import { command } from '../support/command.ts'
import { folderOfFile } from '../support/folders.ts'

const NOW = Date.parse('2026-04-14T05:00:00Z')
const LAST_DAY = parseDay('2026-04-13', 'the last day')
const [WEDNESDAY, THURSDAY] = [addDays(LAST_DAY, -5), addDays(LAST_DAY, -4)]

/** Their organisations have the ids `small`, `small_2` and so on. */
const QUIET = [
  { orgId: 'small', users: 8, organisations: 12, seed: 100 },
  { orgId: 'medium', users: 40, organisations: 4, seed: 200 },
  { orgId: 'large', users: 300, organisations: 1, seed: 300 },
]
const PLANTED = { orgId: 'planted', users: 60, organisations: 1, seed: 5 }

interface Warehouse {
  readonly data: string
  /** Users of the organisation with anomalies, the first of whom have some. */
  readonly robots: readonly string[]
}

/** The warehouse of all organisations, made once. */
let warehouse: Promise<Warehouse> | undefined

async function make(): Promise<Warehouse> {
  const emulators: Emulator[] = []
  const start = async (options: Partial<EmulatorOptions>): Promise<Emulator> => {
    const emulator = await startEmulator({ now: () => NOW, ...options })
    emulators.push(emulator)
    return emulator
  }
  const data = await folderOfFile()
  const environment: Record<string, string> = { AGENT_WAREHOUSE_DATA: data }
  const lines: string[] = []
  const configure = ({ url, keysOf }: Emulator, name: string, organisations: number): void => {
    for (let number = 1; number <= organisations; number += 1) {
      const key = `KEY_${name}_${number}`
      environment[key] = keysOf(number).manager
      lines.push(`  - { name: ${name}${number}, base_url: '${url}', key_env: ${key} }\n`)
    }
  }
  const { members } = await start(PLANTED)
  const robots = members.filter(({ team }) => team === 'automation').map(({ userId }) => userId)
  const [looping = '', leaking = '', creeping = ''] = robots
  const anomalies = [
    { day: WEDNESDAY, userId: looping, factor: 1000 },
    { day: THURSDAY, userId: leaking, factor: 1000 },
    { day: addDays(WEDNESDAY, -7), factor: 0.02 },
    ...eachDay({ first: addDays(LAST_DAY, -83), last: LAST_DAY }).map((day, at) => ({
      ...{ day, userId: creeping, factor: 1.01 ** at },
    })),
  ]
  for (const options of [...QUIET, { ...PLANTED, anomalies }])
    configure(await start(options), options.orgId, options.organisations)

  const config = join(data, 'agent-warehouse.yaml')
  await writeFile(config, `rate: 2000\norganisations:\n${lines.join('')}`)
  for (const stage of [['sync', '--only', 'tokens,activity,users'], ['build']]) {
    const args = [...stage, '--log', 'none', '--config', config]
    const outcome = await command(args, environment)
    expect(outcome, outcome.err).toMatchObject({ code: 0 })
  }
  for (const emulator of emulators) await emulator.close()
  return { data, robots }
}

async function published({ data }: Warehouse, sql: string): Promise<Row[]> {
  await using database = await Database.open(join(data, 'warehouse.duckdb'), { readOnly: true })
  return await database.rows(sql)
}

it.each(QUIET)(
  'at most one in 1,000 user days of $organisations quiet organisations of $users users is an anomaly',
  async ({ orgId, organisations }) => {
    const own = `org_id like '${orgId}%'`
    const [row] = await published(
      await (warehouse ??= make()),
      `select
        (select count(*) from mart_anomalies where ${own})::int as flags,
        (select count(*) from fct_user_day where ${own}
          and billable_tokens > 0 and activity_date > date '${LAST_DAY}' - 28)::int as user_days,
        (select count(distinct org_id) from fct_user_day where ${own})::int as organisations`,
    )
    expect(row).toMatchObject({ organisations })
    expect(Number(row?.['user_days'])).toBeGreaterThan(1000)
    expect(Number(row?.['flags'])).toBeLessThanOrEqual(Number(row?.['user_days']) / 1000)
  },
)

it('the anomalies planted in an organisation are found, each on its day and of its user', async () => {
  const made = await (warehouse ??= make())
  const [looping, leaking] = made.robots
  const found = await published(
    made,
    `select activity_date::varchar as day, user_id, score > 0 as is_above
    from mart_anomalies
    where org_id = '${PLANTED.orgId}' and (scope = 'user' or score < 0) order by all`,
  )
  expect(found).toEqual([
    { day: addDays(WEDNESDAY, -7), user_id: null, is_above: false },
    { day: WEDNESDAY, user_id: looping, is_above: true },
    { day: THURSDAY, user_id: leaking, is_above: true },
  ])
})
