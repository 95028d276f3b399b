// `agent-warehouse build` of a million user days, compared with one hand-written pass over the
// raw user files.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Database, literal } from '../dist/lib/duckdb.js'
import { writeLake } from './lake.mjs'
import { agentWarehouse, benchFolder, measure, median, report, tell, withFolder } from './lib.mjs'

const USERS = 10_000
const DAYS = 100
const REPETITIONS = 3
const MEGABYTE = 1024 * 1024

await withFolder(async (dataFolder) => {
  tell(`writing a raw lake of ${USERS * DAYS} user days`)
  await writeLake(dataFolder, { users: USERS, days: DAYS })
  tell('writing base')
  const base = await makeBase(dataFolder)
  const byHand = []
  const builds = []
  for (let turn = 1; turn <= REPETITIONS; turn += 1) {
    tell(`turn ${turn} of ${REPETITIONS}`)
    byHand.push(await passByHand(dataFolder))
    builds.push(await build(dataFolder))
  }
  const again = await agentWarehouse(['build'], dataFolder)
  const hand = median(byHand.map(({ seconds }) => seconds))
  const whole = median(builds.map(({ seconds }) => seconds))
  const peak = Math.max(...builds.map(({ peakBytes }) => peakBytes))
  report([
    { name: 'user days', value: USERS * DAYS, unit: 'rows' },
    { name: 'first build, including base', value: base.seconds, unit: 's' },
    { name: 'hand-written pass', value: hand, unit: 's' },
    { name: 'whole build', value: whole, unit: 's' },
    { name: 'whole build / hand-written pass', value: whole / hand, unit: '×', most: 3 },
    { name: 'build again, nothing new', value: again.seconds, unit: 's' },
    { name: 'peak memory of a whole build', value: peak / MEGABYTE, unit: 'MB' },
  ])
})

/** The first build writes base from raw, because all of it is missing. */
function makeBase(dataFolder) {
  return agentWarehouse(['build'], dataFolder)
}

/** Without a warehouse, every model is built from scratch. */
async function build(dataFolder) {
  const warehouse = join(dataFolder, 'warehouse.duckdb')
  await rm(warehouse, { force: true })
  const taken = await agentWarehouse(['build'], dataFolder)
  await expectUserDays(warehouse, 'main.fct_user_day')
  return taken
}

async function passByHand(dataFolder) {
  const file = join(dataFolder, 'by-hand.duckdb')
  const taken = await measure(join(benchFolder, 'hand.mjs'), [dataFolder, file])
  await expectUserDays(file, 'main.user_day')
  await rm(file)
  return taken
}

/** A fast but wrong result must not become a figure. */
async function expectUserDays(file, table) {
  const database = await Database.open(':memory:')
  try {
    await database.run(`attach ${literal(file)} as made (read_only)`)
    const [row] = await database.rows(
      `select count(*) as n, sum(billable_tokens) > 0 as has_credits from made.${table}`,
    )
    if (Number(row.n) !== USERS * DAYS || row.has_credits !== true) {
      throw new Error(`${table} has ${row.n} rows, not ${USERS * DAYS}`)
    }
  } finally {
    database.close()
  }
}
