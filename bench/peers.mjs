// This project against dlt (https://dlthub.com) and a Singer tap with target-duckdb, in one run:
// `/users` of the same platform, whose responses are prepared and come at once. Then once more with
// the same faults for each: what is lost, what is doubled, and how many runs it takes.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Database, literal } from '../dist/lib/duckdb.js'
import { addDays, HISTORY_BEGINS, report, tell, withFolder, withPreparedPlatform } from './lib.mjs'
import { measured, middle } from './measured.mjs'
import { KINDS } from './peers/faults.mjs'
import { keep } from './peers/result.mjs'
import { DLT, OURS, SINGER, TOOLS, TOOLS_UNDER_FAULTS } from './peers/tools.mjs'

const USERS = 10_000
const DAYS = 22
const LEAST_ROWS = 200_000
const PATH = '/api/v1/analytics/users'
const LAST = addDays(HISTORY_BEGINS, DAYS - 1)
/** A tool that fails is run again, as the next night would. */
const MOST_RUNS = 3

await withPreparedPlatform(USERS, Date.now(), async (server) => {
  const platform = { ...server, first: HISTORY_BEGINS, last: LAST }
  tell(`preparing the responses for ${DAYS} days of ${USERS} users`)
  const { served, paths } = await paginate(platform)
  if (served < LEAST_ROWS) throw new Error(`only ${served} rows in ${DAYS} days`)
  await platform.ask('ready')
  await platform.ask('quick')
  const landed = []
  for (const tool of TOOLS) landed.push(await land(platform, tool, paths))
  const faulty = []
  for (const tool of TOOLS_UNDER_FAULTS) {
    await platform.ask('faulty')
    faulty.push(await landWithFaults(platform, tool))
  }
  for (const { name, rows, distinct } of [...landed, ...faulty]) {
    if (name === OURS && (rows !== served || distinct !== served))
      throw new Error(`${served} rows served, ${rows} in base, ${distinct} of them distinct`)
  }
  const ours = middle(landed.filter(({ name }) => name === OURS))
  const others = landed.filter(({ name }) => name !== OURS)
  await keep('landing', {
    packages: {
      [DLT]: ['dlt', 'duckdb', 'pyarrow'],
      [SINGER]: ['singer-sdk', 'target-duckdb'],
    },
    served,
    tools: [ours, ...others],
    kinds: Object.values(KINDS),
    faults: faulty,
  })
  report(figuresOf(ours, others, served))
})

/** Against the best of dlt's ways that lose no row, even if speed and memory are those of two of them. */
function figuresOf(ours, others, served) {
  const dlts = others.filter(({ name }) => name.startsWith('dlt'))
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

/** Requests everything as the tools do: the rows that are served, and the paths of the responses. */
async function paginate({ url, key }) {
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

function land(platform, { name, run }, paths) {
  return withFolder(async (folder) => {
    tell(name)
    const { command, env, rows } = await run(platform, folder)
    const { output: _, isFailed: __, ...taken } = await measured(command, { folder, env })
    const asked = await platform.ask('requests')
    const other = asked.find((path) => path.startsWith(PATH) && !paths.has(path))
    if (other !== undefined) throw new Error(`${name} requested what is not prepared: ${other}`)
    return { name, ...taken, requests: asked.length, ...(await rowsOf(folder, rows)) }
  })
}

/** Runs a tool until it succeeds. */
function landWithFaults(platform, { name, run }) {
  return withFolder(async (folder) => {
    tell(`${name}, with faults`)
    const { command, env, rows } = await run(platform, folder)
    let [runs, isComplete] = [0, false]
    while (!isComplete && runs < MOST_RUNS) {
      const taken = await measured(command, { folder, env, mayFail: true })
      isComplete = !taken.isFailed
      runs += 1
    }
    const requests = (await platform.ask('requests')).length
    const refused = await platform.ask('refused')
    return { name, runs, isComplete, requests, refused, ...(await rowsOf(folder, rows)) }
  })
}

/** The rows that a tool has at the end, and how many of them differ in user or day. */
async function rowsOf(folder, { file, day }) {
  const path = literal(join(folder, file))
  const isParquet = file.endsWith('.parquet')
  if (!isParquet && !existsSync(join(folder, file))) return { rows: 0, distinct: 0 }
  const database = await Database.open(':memory:')
  try {
    if (!isParquet) await database.run(`attach ${path} as peer (read_only)`)
    const [row] = await database.rows(
      `select count(*) as n, count(distinct (user_id, ${day})) as d
       from ${isParquet ? `read_parquet(${path})` : 'peer.usage.users'}`,
    )
    return { rows: Number(row.n), distinct: Number(row.d) }
  } finally {
    database.close()
  }
}
