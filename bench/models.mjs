// A full refresh of all models on 3,000,000 user days, by this project, dbt Core with dbt-duckdb and
// SQLMesh, which build the same dbt project; and the large tables alone by one script of DuckDB.
import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { Database, literal } from '../dist/lib/duckdb.js'
import { writeLake } from './lake.mjs'
import { agentWarehouse, benchFolder, report, root, tell, withFolder } from './lib.mjs'
import { measured, middle } from './measured.mjs'
import { keep } from './peers/result.mjs'
import { pythonOf } from './python.mjs'

const USERS = 10_000
const DAYS = 300
const TURNS = 3
const MEGABYTE = 1024 * 1024
const LARGE = ['fct_user_day', 'fct_user_model_day', 'fct_user_language_day', 'dim_user']
const PROJECT = join(root, 'dbt-like-models')
const DBT = 'test/dbt/requirements.txt'
const SQLMESH = 'bench/peers/sqlmesh.txt'

await withFolder(async (dataFolder) => {
  tell(`writing a raw lake of ${USERS * DAYS} user days, and base from it`)
  await writeLake(dataFolder, { users: USERS, days: DAYS })
  await agentWarehouse(['build', '--log', 'none'], dataFolder)
  const [hands, fulls] = [[], []]
  for (let turn = 1; turn <= TURNS; turn += 1) {
    tell(`turn ${turn} of ${TURNS}`)
    hands.push(await byHand(dataFolder))
    fulls.push(await ours(dataFolder))
  }
  const [hand, full] = [hands, fulls].map(middle)
  tell('dbt')
  const dbt = await withDbt(dataFolder)
  tell('SQLMesh')
  const sqlmesh = await withSqlmesh(dataFolder)
  await keep('building', {
    packages: { [DBT]: ['dbt-core', 'dbt-duckdb', 'duckdb'], [SQLMESH]: ['sqlmesh'] },
    rows: USERS * DAYS,
    tools: [full, dbt, sqlmesh, hand].map(({ output: _, isFailed: __, ...tool }) => tool),
  })
  report([
    { name: 'user days', value: USERS * DAYS, unit: 'rows' },
    { name: 'the same tables by hand', value: hand.seconds, unit: 's' },
    { name: 'full refresh, checked and published', value: full.seconds, unit: 's' },
    { name: 'full refresh / by hand', value: full.seconds / hand.seconds, unit: '×', most: 1.8 },
    {
      name: 'peak memory of a full refresh',
      value: full.peakBytes / MEGABYTE,
      unit: 'MB',
      most: 2048,
    },
    { name: 'dbt build', value: dbt.seconds, unit: 's' },
    { name: 'full refresh / dbt build', value: full.seconds / dbt.seconds, unit: '×', most: 1 },
    { name: 'SQLMesh', value: sqlmesh.seconds, unit: 's' },
    { name: 'full refresh / SQLMesh', value: full.seconds / sqlmesh.seconds, unit: '×', most: 1 },
  ])
})

async function ours(dataFolder) {
  const main = join(root, 'dist', 'cli', 'main.js')
  const command = [process.execPath, main, 'build', '--full-refresh', '--log', 'none']
  const taken = await build(dataFolder, command)
  return { name: 'agent-warehouse', ...taken, checks: await checksOf(join(dataFolder, 'target')) }
}

async function byHand(dataFolder) {
  const file = join(dataFolder, 'by-hand.duckdb')
  const script = join(benchFolder, 'by-hand.mjs')
  const taken = await build(dataFolder, [process.execPath, script, dataFolder, file])
  await expectSame(dataFolder, file, LARGE)
  return { name: `by hand: ${LARGE.length} large tables`, ...taken, checks: 0 }
}

async function withDbt(dataFolder) {
  const target = join(dataFolder, 'dbt-target')
  const folders = ['--project-dir', PROJECT, '--profiles-dir', PROJECT, '--target-path', target]
  const command = [pythonOf(join(root, DBT)), '-m', 'dbt.cli.main', '--log-path', target, 'build']
  const taken = await build(dataFolder, [...command, ...folders])
  await expectSame(dataFolder, join(dataFolder, 'dbt.duckdb'))
  return { name: 'dbt Core with dbt-duckdb', ...taken, checks: await checksOf(target) }
}

/** SQLMesh loads the dbt project as it is, but for the checks of a column that its snapshots lack. */
async function withSqlmesh(dataFolder) {
  const project = join(dataFolder, 'sqlmesh')
  await cp(PROJECT, project, { recursive: true })
  await cp(join(benchFolder, 'peers', 'sqlmesh.yaml'), join(project, 'sqlmesh.yaml'))
  const snapshot = join(project, 'snapshots', 'team_entries_history.yml')
  const text = await readFile(snapshot, 'utf8')
  await writeFile(snapshot, text.replace(/(name: dbt_scd_id[^]*?)data_tests: .*/, '$1'))
  const python = pythonOf(join(root, SQLMESH))
  const command = [python, join(python, '..', 'sqlmesh'), '--paths', project, 'plan']
  const taken = await build(dataFolder, [...command, '--auto-apply', '--no-prompts'])
  await expectSame(dataFolder, join(dataFolder, 'dbt.duckdb'))
  const audits = [...taken.output.matchAll(/audits\s+passed\s+(\d+)/g)]
  const checks = audits.reduce((sum, [, passed]) => sum + Number(passed), 0)
  return { name: 'SQLMesh', ...taken, checks }
}

function build(dataFolder, command) {
  const env = { AGENT_WAREHOUSE_DATA: dataFolder, SQLMESH__DISABLE_ANONYMIZED_ANALYTICS: 'true' }
  return measured(command, { folder: dataFolder, env })
}

/**
 * A fast response that is wrong is no figure: all tables have the rows that the warehouse has, or
 * those that are `counted` have as many.
 */
async function expectSame(dataFolder, file, counted) {
  const database = await Database.open(':memory:')
  try {
    // Attached by the name of its file, which views in it contain.
    await database.run(`attach ${literal(join(dataFolder, 'warehouse.duckdb'))} as published (read_only);
      attach ${literal(file)} (read_only)`)
    const measure = counted === undefined ? 'sum(hash(t))' : 'count(*)'
    for (const table of counted ?? (await tablesOf(database))) {
      const [one, other] = ['published', basename(file, '.duckdb')].map(
        (name) => `(select ${measure} from "${name}".main.${table} as t)`,
      )
      const [row] = await database.rows(`select ${one} is not distinct from ${other} as same`)
      if (row.same !== true) throw new Error(`${table} of ${file} has other rows`)
    }
  } finally {
    database.close()
  }
  await rm(file)
}

async function tablesOf(database) {
  const rows = await database.rows(`select table_name from information_schema.tables
    where table_catalog = 'published' and table_schema = 'main'`)
  return rows.map((row) => row.table_name)
}

/** How many checks and unit tests `run_results.json`, of ours or of dbt, has. */
async function checksOf(target) {
  const { results } = JSON.parse(await readFile(join(target, 'run_results.json'), 'utf8'))
  return results.filter(({ unique_id: id }) => /^(unit_)?test\./.test(id)).length
}
