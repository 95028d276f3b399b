// Rows per second from the platform to base, and peak memory, for a short history and one three
// times as long of the same organisation. The platform's responses are prepared and come at once: a
// real platform makes them on other machines.
import { join } from 'node:path'
import { request } from 'undici'
import { Database, literal } from '../dist/lib/duckdb.js'
import {
  addDays,
  agentWarehouse,
  daysBetween,
  HISTORY_BEGINS,
  report,
  tell,
  withFolder,
  withPreparedPlatform,
  yesterday,
} from './lib.mjs'

const USERS = 10_000
const LEAST_ROWS = 300_000
const WALKS_AT_ONCE = 8
const MEGABYTE = 1024 * 1024
const USER = '"user_id":'

const historyDays = Math.min(180, daysBetween(HISTORY_BEGINS, yesterday()) + 1)
const shortDays = Math.floor(historyDays / 3)

const figures = async (platform) => {
  tell('preparing the responses')
  for (const days of [shortDays, shortDays * 3]) await land(platform, days)
  await platform.ask('ready')
  await platform.ask('quick')
  const cold = await walk(platform, shortDays)
  const short = await land(platform, shortDays)
  const long = await land(platform, shortDays * 3)
  const ceiling = Math.max(cold, await walk(platform, shortDays))
  if (long.rows < LEAST_ROWS) throw new Error(`only ${long.rows} rows in ${shortDays * 3} days`)
  report([
    { name: 'rows landed', value: long.rows, unit: 'rows' },
    { name: 'API to base', value: long.rows / long.seconds, unit: 'rows/s', least: 60_000 },
    { name: 'API to base, short history', value: short.rows / short.seconds, unit: 'rows/s' },
    { name: 'API to base, per CPU second', value: long.rows / long.cpuSeconds, unit: 'rows/s' },
    { name: 'stand-in platform alone', value: ceiling, unit: 'rows/s' },
    { name: 'share of the platform’s speed', value: long.rows / long.seconds / ceiling, unit: '×' },
    { name: 'peak memory', value: long.peakBytes / MEGABYTE, unit: 'MB', most: 250 },
    {
      name: 'peak memory, short history',
      value: short.peakBytes / MEGABYTE,
      unit: 'MB',
      most: 250,
    },
    { name: 'memory, 3× history', value: long.peakBytes / short.peakBytes, unit: '×', most: 1.2 },
  ])
}
await withPreparedPlatform(USERS, Date.now(), figures, { areSteady: false })

async function land(platform, days) {
  return withFolder(async (dataFolder) => {
    const last = addDays(HISTORY_BEGINS, days - 1)
    tell(`landing ${days} days`)
    const taken = await agentWarehouse(
      ['sync', '--only', 'users', '--from', HISTORY_BEGINS, '--to', last],
      dataFolder,
      {
        AGENT_BASE_URL: platform.url,
        AGENT_API_KEY: platform.key,
        AGENT_WAREHOUSE_RATE: '100000',
        AGENT_WAREHOUSE_CONCURRENCY: '4',
      },
    )
    const raw = await countRows(join(dataFolder, 'lake', 'raw', 'users'))
    const rows = await countRows(join(dataFolder, 'lake', 'base', 'users'))
    if (rows !== raw) throw new Error(`${raw} raw rows, but ${rows} in base`)
    return { ...taken, rows }
  })
}

async function countRows(folder) {
  const database = await Database.open(':memory:')
  try {
    const files = literal(join(folder, '**', '*.parquet'))
    const [row] = await database.rows(`select count(*) as n from read_parquet(${files})`)
    return Number(row.n)
  } finally {
    database.close()
  }
}

/** Rows per second of a client that discards them: the upper bound on this machine. */
async function walk(platform, days) {
  tell(`requesting ${days} days and discarding them`)
  const queue = Array.from({ length: days }, (_, index) => addDays(HISTORY_BEGINS, index))
  const began = performance.now()
  const counts = await Promise.all(
    Array.from({ length: WALKS_AT_ONCE }, async () => {
      let rows = 0
      for (let day = queue.shift(); day !== undefined; day = queue.shift()) {
        rows += await walkDay(platform, day)
      }
      return rows
    }),
  )
  const rows = counts.reduce((a, b) => a + b, 0)
  return rows / ((performance.now() - began) / 1000)
}

async function walkDay(platform, day) {
  const headers = { authorization: `Bearer ${platform.key}` }
  let rows = 0
  let cursor = ''
  for (;;) {
    const query = `startDate=${day}&endDate=${day}&limit=100${cursor}`
    const { statusCode, body } = await request(`${platform.url}/api/v1/analytics/users?${query}`, {
      headers,
    })
    const text = await body.text()
    if (statusCode !== 200) throw new Error(`/users?${query} answered ${statusCode}`)
    for (let at = text.indexOf(USER); at >= 0; at = text.indexOf(USER, at + 1)) rows += 1
    const next = /"next_cursor":\s*"([^"]+)"/.exec(text.slice(-500))
    if (next === null) return rows
    cursor = `&cursor=${encodeURIComponent(next[1])}`
  }
}
