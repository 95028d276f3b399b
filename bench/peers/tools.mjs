// The tools of `make bench-peers` that land `/users`: how each is run, and where its rows are.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { benchFolder, machineHere, root } from '../lib.mjs'
import { pythonOf } from '../python.mjs'

const FOLDER = join(benchFolder, 'peers')
export const DLT = 'bench/peers/dlt.txt'
export const SINGER = 'bench/peers/singer.txt'
export const OURS = 'agent-warehouse'
const AT_ONCE = '8'

/** As dlt's page on performance advises: workers for each stage, and files rotated for them. */
const ADVISED = {
  EXTRACT__WORKERS: AT_ONCE,
  NORMALIZE__WORKERS: String(machineHere().cores),
  DATA_WRITER__FILE_MAX_ITEMS: '25000',
  LOAD__DELETE_COMPLETED_JOBS: 'true',
}

const ours = { name: OURS, run: ourRun }
const singer = { name: 'Singer: target-duckdb', run: singerRun }

/** One after the other; ours takes turns with the others, because a machine has better and worse minutes. */
export const TOOLS = [
  ours,
  dlt('DuckDB, nested tables', ['duckdb', 'parquet', 'tables', 'append'], ADVISED),
  dlt('DuckDB, JSON columns', ['duckdb', 'parquet', 'json', 'append'], ADVISED),
  ours,
  dlt('Parquet, nested tables', ['filesystem', 'parquet', 'tables', 'append'], ADVISED),
  dlt('Parquet, JSON columns', ['filesystem', 'parquet', 'json', 'append'], ADVISED),
  ours,
  dlt('DuckDB, default settings', ['duckdb', 'default', 'tables', 'append'], {}),
  singer,
]

/** Those that meet faults. Appended rows are kept as served; merged ones once for each user and day. */
export const TOOLS_UNDER_FAULTS = [
  ours,
  dlt('DuckDB, appended', ['duckdb', 'parquet', 'json', 'append'], ADVISED),
  dlt('DuckDB, merged by user and day', ['duckdb', 'parquet', 'json', 'merge'], ADVISED),
  singer,
]

function dlt(name, args, settings) {
  return { name: `dlt: ${name}`, run: (platform) => dltRun(platform, args, settings) }
}

function ourRun({ url, key, first, last }) {
  const main = join(root, 'dist', 'cli', 'main.js')
  return {
    env: {
      AGENT_WAREHOUSE_DATA: 'data',
      AGENT_BASE_URL: url,
      AGENT_API_KEY: key,
      AGENT_WAREHOUSE_RATE: '100000',
      AGENT_WAREHOUSE_CONCURRENCY: AT_ONCE,
    },
    command: [process.execPath, main, 'sync', '--only', 'users', '--from', first, '--to', last],
    rows: { file: 'data/lake/base/users/**/*.parquet', day: 'activity_date' },
  }
}

function dltRun({ url, key, first, last }, args, settings) {
  const script = join(FOLDER, 'dlt_users.py')
  return {
    env: {
      RUNTIME__DLTHUB_TELEMETRY: 'false',
      DESTINATION__FILESYSTEM__BUCKET_URL: 'files',
      ...settings,
    },
    command: [pythonOf(join(root, DLT)), script, ...args, url, key, first, last],
    rows: {
      file: args[0] === 'duckdb' ? 'peers.duckdb' : 'files/usage/users/*.parquet',
      day: 'date',
    },
  }
}

/** A tap pipes its rows into a target; each is started by its environment's Python. */
async function singerRun({ url, key, first, last }, folder) {
  const python = pythonOf(join(root, SINGER))
  const tap = `${python} ${join(FOLDER, 'tap_users.py')} --config tap.json`
  const target = `${python} ${join(python, '..', 'target-duckdb')} --config target.json`
  await writeFile(join(folder, 'tap.json'), JSON.stringify({ url, key, first, last }))
  const config = { path: 'peers.duckdb', default_target_schema: 'usage' }
  await writeFile(join(folder, 'target.json'), JSON.stringify(config))
  return {
    env: {},
    command: ['bash', '-c', `set -o pipefail; ${tap} | ${target}`],
    rows: { file: 'peers.duckdb', day: 'date' },
  }
}
