import { join } from 'node:path'
import { expect } from 'vitest'
import { Database, identifier, type Row } from '../../src/lib/duckdb.ts'
import { command, type Outcome } from '../support/command.ts'
import { restoredFolder } from '../support/folders.ts'
import { environmentOf, standIn } from '../support/stand-in.ts'

const NOW = Date.parse('2026-01-24T05:00:00Z')
export const MS_PER_DAY = 86_400_000

/** A platform at the time of the given night, and the command on a data folder. */
async function stage(data: string, nights = 1) {
  const clock = { now: NOW + (nights - 1) * MS_PER_DAY }
  const emulator = await standIn({ users: 8, now: () => clock.now })
  const environment = environmentOf(emulator, data)
  const ask = (...args: string[]): Promise<Outcome> => command(args, environment)
  const work = (...args: string[]): Promise<Outcome> => ask(...args, '--log', 'none')
  const done = async (...args: string[]): Promise<string> => {
    const outcome = await ask(...args)
    expect(outcome, outcome.err).toMatchObject({ code: 0 })
    return outcome.out
  }
  return { clock, emulator, data, environment, ask, work, done }
}

/** The data folder after a night, or after two. */
function folderAfter(nights: 1 | 2) {
  return restoredFolder(`${nights} published nights`, async (data) => {
    if (nights === 2) await folderAfter(1)
    const { done } = await stage(data, nights)
    await done('run', '--log', 'none')
  })
}

/** A landed, published night, on the day of which it is still, or on that of the next. */
export async function publishedNight(today: 1 | 2 = 1) {
  const { data } = await folderAfter(1)
  return stage(data, today)
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
  const first = await martsOf((await folderAfter(1)).kept)
  const { data } = await folderAfter(2)
  const night = await stage(data, 2)
  const second = await martsOf(night.data)
  const list = async (): Promise<Kept[]> =>
    JSON.parse((await night.ask('rollback', '--list', '--json')).out) as Kept[]
  return { ...night, first, second, list }
}
