// The memory of a sync does not depend on the length of the history or the people per day.
import {
  addDays,
  agentWarehouse,
  HISTORY_BEGINS,
  median,
  report,
  tell,
  withFolder,
  withPlatform,
} from './lib.mjs'

const MEGABYTE = 1024 * 1024

const RUNS = 3

const short = await peak({ users: 300, days: 30 })
const long = await peak({ users: 300, days: 300 })
const few = await peak({ users: 100, days: 1 })
const many = await peak({ users: 100_000, days: 1, only: ['--only', 'users'] })
const all = await peak({ users: 100_000, days: 1 })
report([
  { name: 'peak, 30 days of history', value: short, unit: 'MB' },
  { name: '300 days / 30 days', value: long / short, unit: '×', most: 1.1 },
  { name: 'peak, a day of 100 users', value: few, unit: 'MB' },
  { name: 'the users of a day of 100,000 / of 100', value: many / few, unit: '×', most: 1.1 },
  { name: 'with a row of tokens that names each / of 100', value: all / few, unit: '×' },
])

/** Megabytes, the median of some runs, because garbage collection varies. */
async function peak(history) {
  const peaks = []
  for (let run = 0; run < RUNS; run += 1) peaks.push(await peakOfOne(history))
  return median(peaks)
}

function peakOfOne({ users, days, only = [] }) {
  tell(`syncing ${days} days of ${users} users`)
  return withPlatform(users, (platform) =>
    withFolder(async (dataFolder) => {
      const last = addDays(HISTORY_BEGINS, days - 1)
      const { peakBytes, seconds } = await agentWarehouse(
        ['sync', '--from', HISTORY_BEGINS, '--to', last, ...only],
        dataFolder,
        {
          AGENT_BASE_URL: platform.url,
          AGENT_API_KEY: platform.key,
          AGENT_WAREHOUSE_RATE: '100000',
        },
      )
      tell(`  ${Math.round(peakBytes / MEGABYTE)} MB, ${seconds.toFixed(1)} s`)
      return peakBytes / MEGABYTE
    }),
  )
}
