// This project against dlt (https://dlthub.com), in one run: `/users` of the same platform,
// whose answers are prepared and come at once, by as many requests at once.
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Database, literal } from '../dist/lib/duckdb.js'
import {
  addDays,
  benchFolder,
  HISTORY_BEGINS,
  machineHere,
  median,
  report,
  root,
  tell,
  withFolder,
  withPreparedPlatform,
} from './lib.mjs'
import { withTable } from './peers/table.mjs'
import { pythonOf } from './python.mjs'

const USERS = 10_000
const DAYS = 22
const LEAST_ROWS = 200_000
const AT_ONCE = '8'
const PATH = '/api/v1/analytics/users'
const FOLDER = join(benchFolder, 'peers')
const RESULT = join(FOLDER, 'result.json')
const LIST = join(FOLDER, 'requirements.txt')
const OURS = 'agent-warehouse'
const LAST = addDays(HISTORY_BEGINS, DAYS - 1)

/** As dlt's page on performance advises: workers for each stage, and files rotated for them. */
const ADVISED = {
  EXTRACT__WORKERS: AT_ONCE,
  NORMALIZE__WORKERS: String(machineHere().cores),
  DATA_WRITER__FILE_MAX_ITEMS: '25000',
  LOAD__DELETE_COMPLETED_JOBS: 'true',
}

const TOOLS = [
  { name: OURS },
  dlt('DuckDB, nested tables', 'duckdb', 'parquet', 'tables', ADVISED),
  dlt('DuckDB, JSON columns', 'duckdb', 'parquet', 'json', ADVISED),
  { name: OURS },
  dlt('Parquet, nested tables', 'filesystem', 'parquet', 'tables', ADVISED),
  dlt('Parquet, JSON columns', 'filesystem', 'parquet', 'json', ADVISED),
  { name: OURS },
  dlt('DuckDB, default settings', 'duckdb', 'default', 'tables', {}),
]

function dlt(name, destination, format, nested, settings) {
  return { name: `dlt: ${name}`, destination, args: [destination, format, nested], settings }
}

await withPreparedPlatform(USERS, Date.now(), async (platform) => {
  tell(`preparing the answers for ${DAYS} days of ${USERS} users`)
  const { served, paths } = await walk(platform)
  if (served < LEAST_ROWS) throw new Error(`only ${served} rows in ${DAYS} days`)
  await platform.ask('ready')
  await platform.ask('quick')
  const runs = []
  for (const tool of TOOLS) runs.push(await withFolder((folder) => load(platform, tool, folder)))
  for (const each of runs) {
    const other = each.asked.find((path) => path.startsWith(PATH) && !paths.has(path))
    if (other !== undefined)
      throw new Error(`${each.name} asked for what is not prepared: ${other}`)
  }
  const own = runs.filter(({ name }) => name === OURS)
  const wrong = own.find(({ rows, distinct }) => rows !== served || distinct !== served)
  if (wrong !== undefined) {
    const { rows, distinct } = wrong
    throw new Error(`${served} rows served, ${rows} in base, ${distinct} of them distinct`)
  }
  const ours = middle(own)
  const dlts = runs.filter(({ name }) => name !== OURS)
  const tools = [ours, ...dlts].map(({ asked, ...each }) => ({ ...each, requests: asked.length }))
  await keep({ served, tools })
  report(figuresOf(ours, dlts, served))
})

/** dlt's best counts, of the ways that lose no row, also where speed and memory are of two ways. */
function figuresOf(ours, dlts, served) {
  const whole = dlts.filter(({ distinct }) => distinct === served)
  const best = (measure) => Math.min(...whole.map(measure))
  const byDefault = dlts.at(-1)
  const seconds = best((each) => each.seconds)
  const cpuSeconds = best((each) => each.cpuSeconds)
  const peakBytes = best((each) => each.peakBytes)
  return [
    { name: 'rows served', value: served, unit: 'rows' },
    { name: 'API to base', value: served / ours.seconds, unit: 'rows/s' },
    { name: 'dlt, its fastest way', value: served / seconds, unit: 'rows/s' },
    { name: 'speed / dlt’s fastest', value: seconds / ours.seconds, unit: '×', least: 20 },
    { name: 'speed / dlt’s by default', value: byDefault.seconds / ours.seconds, unit: '×' },
    { name: 'CPU time / dlt’s least', value: ours.cpuSeconds / cpuSeconds, unit: '×' },
    { name: 'peak memory / dlt’s least', value: ours.peakBytes / peakBytes, unit: '×', most: 0.1 },
    {
      name: 'peak memory / dlt’s by default',
      value: ours.peakBytes / byDefault.peakBytes,
      unit: '×',
    },
  ]
}

/** Asks for everything as both tools do: the rows that are served, and the paths of the answers. */
async function walk({ url, key }) {
  const paths = new Set()
  let served = 0
  for (let count = 0; count < DAYS; count += 1) {
    const day = addDays(HISTORY_BEGINS, count)
    for (let cursor = ''; cursor !== undefined;) {
      const path = `${PATH}?startDate=${day}&endDate=${day}&limit=100${cursor}`
      const response = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } })
      if (!response.ok) throw new Error(`${path} answered ${response.status}`)
      const { data, meta } = await response.json()
      served += data.length
      paths.add(path)
      cursor = meta.has_more ? `&cursor=${encodeURIComponent(meta.next_cursor)}` : undefined
    }
  }
  return { served, paths }
}

async function load(platform, tool, folder) {
  tell(tool.name)
  const taken = join(folder, 'taken.json')
  const [command, env, count] = tool.name === OURS ? ourRun(platform) : dltRun(platform, tool)
  await promisify(execFile)(pythonOf(LIST), [join(FOLDER, 'measured.py'), taken, ...command], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, ...env },
    maxBuffer: 1e8,
  })
  const measured = JSON.parse(await readFile(taken, 'utf8'))
  const asked = await platform.ask('requests')
  return { name: tool.name, ...measured, ...(await rowsOf(join(folder, count.file), count)), asked }
}

function ourRun({ url, key }) {
  const main = join(root, 'dist', 'cli', 'main.js')
  const env = {
    AGENT_WAREHOUSE_DATA: 'data',
    AGENT_BASE_URL: url,
    AGENT_API_KEY: key,
    AGENT_WAREHOUSE_RATE: '100000',
    AGENT_WAREHOUSE_CONCURRENCY: AT_ONCE,
  }
  const days = ['--from', HISTORY_BEGINS, '--to', LAST]
  const command = [process.execPath, main, 'sync', '--only', 'users', ...days]
  return [command, env, { file: 'data/lake/base/users/**/*.parquet', day: 'activity_date' }]
}

function dltRun({ url, key }, { args, settings }) {
  const script = join(FOLDER, 'dlt_users.py')
  const env = {
    RUNTIME__DLTHUB_TELEMETRY: 'false',
    DESTINATION__FILESYSTEM__BUCKET_URL: 'files',
    ...settings,
  }
  const file = args[0] === 'duckdb' ? 'peers.duckdb' : 'files/usage/users/*.parquet'
  const command = [pythonOf(LIST), script, ...args, url, key, HISTORY_BEGINS, LAST]
  return [command, env, { file, day: 'date' }]
}

async function rowsOf(file, { day }) {
  const database = await Database.open(':memory:')
  try {
    const isParquet = file.endsWith('.parquet')
    if (!isParquet) await database.run(`attach ${literal(file)} as peer (read_only)`)
    const rows = isParquet ? `read_parquet(${literal(file)})` : 'peer.usage.users'
    const [row] = await database.rows(
      `select count(*) as n, count(distinct (user_id, ${day})) as d from ${rows}`,
    )
    return { rows: Number(row.n), distinct: Number(row.d) }
  } finally {
    database.close()
  }
}

/** Of runs of the same tool: the median of what they took, the most of their memory. */
function middle(runs) {
  return {
    ...runs[0],
    seconds: median(runs.map(({ seconds }) => seconds)),
    cpuSeconds: median(runs.map(({ cpuSeconds }) => cpuSeconds)),
    peakBytes: Math.max(...runs.map(({ peakBytes }) => peakBytes)),
  }
}

async function keep({ served, tools }) {
  const list = await readFile(LIST, 'utf8')
  const pinned = (name) => new RegExp(`^${name}==(.+)$`, 'm').exec(list)[1]
  const { stdout: python } = await promisify(execFile)(pythonOf(LIST), ['--version'])
  const versions = {
    'Node.js': process.versions.node,
    Python: python.trim().split(' ')[1],
    dlt: pinned('dlt'),
    DuckDB: pinned('duckdb'),
    PyArrow: pinned('pyarrow'),
  }
  const at = new Date().toISOString()
  const result = {
    at,
    machine: machineHere(),
    versions,
    command: 'make bench-peers',
    served,
    tools,
  }
  await writeFile(RESULT, `${JSON.stringify(result, null, 2)}\n`)
  const readme = join(root, 'README.md')
  await writeFile(readme, withTable(await readFile(readme, 'utf8'), result))
}
