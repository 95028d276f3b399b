import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { startEmulator } from '../../src/emulator/emulator.ts'
import { Database, identifier, type Row } from '../../src/lib/duckdb.ts'
import { command, type Outcome } from '../support/command.ts'
import { temporaryFolder } from '../support/helpers.ts'

const NOW = Date.parse('2026-02-03T05:00:00Z')
export const MS_PER_DAY = 86_400_000

/** A landed, published night. */
export async function publishedNight() {
  const clock = { now: NOW }
  const emulator = await startEmulator({ users: 8, now: () => clock.now })
  onTestFinished(() => emulator.close())
  const data = await temporaryFolder()
  const environment = {
    AGENT_BASE_URL: emulator.url,
    AGENT_API_KEY: emulator.keys.manager,
    AGENT_WAREHOUSE_DATA: data,
    AGENT_WAREHOUSE_RATE: '2000',
  }
  const ask = (...args: string[]): Promise<Outcome> => command(args, environment)
  const work = (...args: string[]): Promise<Outcome> => ask(...args, '--log', 'none')
  const first = await work('run')
  expect(first, first.err).toMatchObject({ code: 0 })
  return { clock, emulator, data, environment, ask, work }
}

/** Every row of every mart. */
export async function martsOf(data: string): Promise<Record<string, Row[]>> {
  const database = await Database.open(join(data, 'warehouse.duckdb'), { readOnly: true })
  try {
    const { rows: names } = await database.table(
      `select table_name from information_schema.tables where table_schema = 'main' order by 1`,
    )
    const marts: Record<string, Row[]> = {}
    for (const name of names.map(String)) {
      const columns = `columns(name -> name != 'fetched_at')` // a later run fetches later
      marts[name] = await database.rows(`select ${columns} from ${identifier(name)} order by all`)
    }
    return marts
  } finally {
    database.close()
  }
}

/** A line of `rollback --list`. */
export interface Kept {
  readonly run_id: string
  readonly is_published: boolean
  readonly problem: string | null
}

/** Two published nights; the file of the first is kept for a rollback. */
export async function twoNights() {
  const night = await publishedNight()
  const { clock, data, ask, work } = night
  const first = await martsOf(data)
  clock.now += MS_PER_DAY
  const outcome = await work('run')
  expect(outcome, outcome.err).toMatchObject({ code: 0 })
  const list = async (): Promise<Kept[]> =>
    JSON.parse((await ask('rollback', '--list', '--json')).out) as Kept[]
  return { ...night, first, second: await martsOf(data), list }
}
