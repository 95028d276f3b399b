import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { startEmulator, type Emulator, type EmulatorOptions } from '../../src/emulator/emulator.ts'
import { addDays, eachDay, parseDay } from '../../src/lib/days.ts'
import { Database, type Row } from '../../src/lib/duckdb.ts'
import { command } from '../support/command.ts'
import { temporaryFolder } from '../support/helpers.ts'

const NOW = Date.parse('2026-04-14T05:00:00Z')
const LAST_DAY = parseDay('2026-04-13', 'the last day')
const [WEDNESDAY, THURSDAY] = [addDays(LAST_DAY, -5), addDays(LAST_DAY, -4)]

async function start(options: Partial<EmulatorOptions>): Promise<Emulator> {
  const emulator = await startEmulator({ now: () => NOW, ...options })
  onTestFinished(() => emulator.close())
  return emulator
}

/** What a query answers on a warehouse of all organisations of a stand-in platform. */
async function published(emulator: Emulator, organisations: number, sql: string): Promise<Row[]> {
  const data = await temporaryFolder()
  const environment: Record<string, string> = { AGENT_WAREHOUSE_DATA: data }
  const lines = Array.from({ length: organisations }, (_, at) => {
    environment[`KEY_${at}`] = emulator.keysOf(at + 1).manager
    return `  - { name: org${at}, base_url: '${emulator.url}', key_env: KEY_${at} }\n`
  })
  const config = join(data, 'agent-warehouse.yaml')
  await writeFile(config, `rate: 2000\norganisations:\n${lines.join('')}`)
  for (const stage of [['sync', '--only', 'tokens,activity,users'], ['build']]) {
    const args = [...stage, '--log', 'none', '--config', config]
    const outcome = await command(args, environment)
    expect(outcome, outcome.err).toMatchObject({ code: 0 })
  }
  const database = await Database.open(join(data, 'warehouse.duckdb'), { readOnly: true })
  try {
    return await database.rows(sql)
  } finally {
    database.close()
  }
}

it.each([
  { users: 8, organisations: 12, seed: 100 },
  { users: 40, organisations: 4, seed: 200 },
  { users: 300, organisations: 1, seed: 300 },
])(
  'at most one in 1,000 user days of $organisations quiet organisations of $users users is an anomaly',
  async ({ organisations, ...options }) => {
    const emulator = await start({ ...options, organisations })
    const [row] = await published(
      emulator,
      organisations,
      `select
        (select count(*) from mart_anomalies)::int as flags,
        (select count(*) from fct_user_day
          where billable_tokens > 0 and activity_date > date '${LAST_DAY}' - 28)::int as user_days,
        (select count(distinct org_id) from fct_user_day)::int as organisations`,
    )
    expect(row).toMatchObject({ organisations })
    expect(Number(row?.['user_days'])).toBeGreaterThan(1000)
    expect(Number(row?.['flags'])).toBeLessThanOrEqual(Number(row?.['user_days']) / 1000)
  },
)

it('the anomalies planted in an organisation are found, each on its day and of its user', async () => {
  const options = { users: 60, seed: 5 }
  const { members } = await start(options)
  const robots = members.filter(({ team }) => team === 'automation')
  const [looping = '', leaking = '', creeping = ''] = robots.map(({ userId }) => userId)
  const emulator = await start({
    ...options,
    anomalies: [
      { day: WEDNESDAY, userId: looping, factor: 1000 },
      { day: THURSDAY, userId: leaking, factor: 1000 },
      { day: addDays(WEDNESDAY, -7), factor: 0.02 },
      ...eachDay({ first: addDays(LAST_DAY, -83), last: LAST_DAY }).map((day, at) => ({
        ...{ day, userId: creeping, factor: 1.01 ** at },
      })),
    ],
  })
  const found = await published(
    emulator,
    1,
    `select activity_date::varchar as day, user_id, score > 0 as is_above
    from mart_anomalies where scope = 'user' or score < 0 order by all`,
  )
  expect(found).toEqual([
    { day: addDays(WEDNESDAY, -7), user_id: null, is_above: false },
    { day: WEDNESDAY, user_id: looping, is_above: true },
    { day: THURSDAY, user_id: leaking, is_above: true },
  ])
})
