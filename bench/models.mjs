// A full refresh of all models on 3,000,000 user days, beside the same tables by one
// script of DuckDB, and beside dbt Core with dbt-duckdb on the same models.
import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Database, literal } from '../dist/lib/duckdb.js'
import { writeLake } from './lake.mjs'
import {
  agentWarehouse,
  benchFolder,
  measure,
  median,
  report,
  root,
  tell,
  withFolder,
} from './lib.mjs'
import { pythonOf } from './python.mjs'

const USERS = 10_000
const DAYS = 300
const TURNS = 3
const MEGABYTE = 1024 * 1024
const LARGE = ['fct_user_day', 'fct_user_model_day', 'fct_user_language_day', 'dim_user']

await withFolder(async (dataFolder) => {
  tell(`writing a raw lake of ${USERS * DAYS} user days, and base from it`)
  await writeLake(dataFolder, { users: USERS, days: DAYS })
  await agentWarehouse(['build', '--log', 'none'], dataFolder)
  const [hands, fulls] = [[], []]
  for (let turn = 1; turn <= TURNS; turn += 1) {
    tell(`turn ${turn} of ${TURNS}`)
    hands.push(await byHand(dataFolder))
    fulls.push(await agentWarehouse(['build', '--full-refresh', '--log', 'none'], dataFolder))
  }
  const [hand, full] = [hands, fulls].map((all) => median(all.map(({ seconds }) => seconds)))
  tell('dbt')
  const dbt = await withDbt(dataFolder)
  report([
    { name: 'user days', value: USERS * DAYS, unit: 'rows' },
    { name: 'the same tables by hand', value: hand, unit: 's' },
    { name: 'full refresh, checked and published', value: full, unit: 's' },
    { name: 'full refresh / by hand', value: full / hand, unit: '×', most: 1.8 },
    {
      name: 'peak memory of a full refresh',
      value: Math.max(...fulls.map(({ peakBytes }) => peakBytes)) / MEGABYTE,
      unit: 'MB',
      most: 2048,
    },
    { name: 'dbt build', value: dbt, unit: 's' },
    { name: 'full refresh / dbt build', value: full / dbt, unit: '×', most: 1 },
  ])
})

async function byHand(dataFolder) {
  const file = join(dataFolder, 'by-hand.duckdb')
  const taken = await measure(join(benchFolder, 'by-hand.mjs'), [dataFolder, file])
  await expectSameCounts(file, join(dataFolder, 'warehouse.duckdb'))
  await rm(file)
  return taken
}

/** A fast answer that is wrong is no figure. */
async function expectSameCounts(one, other) {
  const database = await Database.open(':memory:')
  try {
    await database.run(`attach ${literal(one)} as one (read_only);
      attach ${literal(other)} as other (read_only)`)
    for (const table of LARGE) {
      const [row] = await database.rows(
        `select (select count(*) from one.${table}) = (select count(*) from other.${table}) as same`,
      )
      if (row.same !== true) throw new Error(`${table} by hand has other rows`)
    }
  } finally {
    database.close()
  }
}

/** Seconds of `dbt build`, from the environment that the runner has made. */
async function withDbt(dataFolder) {
  const project = join(root, 'dbt-like-models')
  const target = join(dataFolder, 'dbt-target')
  const folders = ['--project-dir', project, '--profiles-dir', project, '--target-path', target]
  const began = performance.now()
  await promisify(execFile)(
    pythonOf(join(root, 'test', 'dbt', 'requirements.txt')),
    ['-m', 'dbt.cli.main', '--log-path', target, 'build', ...folders],
    {
      env: { PATH: process.env.PATH, AGENT_WAREHOUSE_DATA: dataFolder, HOME: dataFolder },
      maxBuffer: 64 * MEGABYTE,
    },
  )
  return (performance.now() - began) / 1000
}
