// A raw lake of any size without a network: `--users` × `--days` user days, and
// the day endpoints that agree with them, in the layout of the contract.
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { digestOf } from '../dist/extract/land/row-lines.js'
import { Database, literal } from '../dist/lib/duckdb.js'
import { sha256OfFile } from '../dist/lib/files.js'
import { LedgerFile } from '../dist/lake/ledger.js'
import { statement as statementOfOurs, fill } from '../dist/lib/package.js'
import { addDays, benchFolder, HISTORY_BEGINS } from './lib.mjs'

const ORG = 'org_bench'

const RESOURCES = [
  'tokens',
  'tokens_by_model',
  'tools',
  'tools_by_name',
  'activity',
  'activity_by_client',
  'productivity',
  'users',
]

const MODELS = ['alpha-1', 'alpha-2', 'beta-1', 'beta-2', 'gamma-1']

/** Writes the first `days` days of every resource, and the ledger that names them. */
export function writeLake(dataFolder, { users, days, models = MODELS }) {
  const indexes = Array.from({ length: days }, (_, index) => index)
  return writeDays(dataFolder, { users, indexes, models, version: 1 })
}

/** Writes a version of days, by their place in history from 0, of every resource. */
export async function writeDays(dataFolder, { users, indexes, models = MODELS, version: number }) {
  const database = await Database.open(':memory:')
  try {
    await database.run(fill(await statement('macros'), { users: String(users) }))
    await database.run(`set variable version = ${number}`)
    await database.run(`set variable models = [${models.map(literal).join()}]`)
    await database.run(statementOfOurs('raw/versions_macros'))
    const selects = new Map()
    for (const resource of RESOURCES) selects.set(resource, await statement(resource))
    const userDay = await statement('user_day')
    const rawDay = await statement('raw_day')
    const intervals = []
    for (const index of indexes) {
      const day = addDays(HISTORY_BEGINS, index)
      await database.run(fill(userDay, { day: literal(day) }))
      for (const [resource, select] of selects) {
        const items = fill(select, { day: literal(day) })
        await database.run(`create or replace temp table served as ${items}`)
        const digest = await digestOfServed(database)
        const version = await versionOf(dataFolder, { resource, day, number, digest })
        await database.run(fill(rawDay, statementValues(version)))
        intervals.push(await intervalOf(version))
      }
    }
    const ledger = await LedgerFile.open(dataFolder, ORG)
    await ledger.record(intervals)
  } finally {
    database.close()
  }
}

/** A day that was fetched when it was settled, so that no recheck is due. */
async function versionOf(dataFolder, { resource, day, number, digest }) {
  const folder = join(dataFolder, 'lake', 'raw', resource, `org=${ORG}`, `date=${day}`)
  await mkdir(folder, { recursive: true })
  const fetchedAt = `${addDays(day, 39 + number)}T06:00:00.000Z`
  const file = `${fetchedAt.replaceAll(/[-:.]/g, '')}-${digest.slice(0, 16)}.parquet`
  return { resource, day, digest, fetchedAt, file, path: join(folder, file) }
}

/** The digest that landing these rows would compute. */
async function digestOfServed(database) {
  const lanes = Array.from({ length: 8 }, (_, lane) => `sum(word(hash, ${lane})) % 4294967296`)
  const { rows } = await database.table(
    `select count(*), ${lanes.join(', ')} from (select sha256(item) as hash from served)`,
  )
  const [count, ...sums] = rows[0].map(Number)
  return digestOf(count, sums)
}

function statementValues({ resource, day, digest, fetchedAt, path }) {
  return {
    select: 'from served',
    file: literal(path),
    fetched_at: literal(fetchedAt),
    request: literal(`/api/v1/analytics/${resource}?startDate=${day}&endDate=${day}`),
    org_id: literal(ORG),
    resource: literal(resource),
    day: literal(day),
    digest: literal(digest),
  }
}

async function intervalOf({ resource, day, digest, fetchedAt, file, path }) {
  const { length: versions } = await readdir(dirname(path))
  return {
    resource,
    day,
    status: 'landed',
    fetchedAt: Date.parse(fetchedAt),
    rowCount: null,
    versions,
    attempts: 1,
    requestId: 'req_00000001',
    file,
    sha256: await sha256OfFile(path),
    digest,
    error: null,
  }
}

function statement(name) {
  return readFile(join(benchFolder, 'sql', `${name}.sql`), 'utf8')
}
