// The memory of a sync does not depend on how long the history is, nor on how many people a day has.
import {
  addDays,
  agentWarehouse,
  HISTORY_BEGINS,
  report,
  tell,
  withFolder,
  withPlatform,
} from './lib.mjs'

const MEGABYTE = 1024 * 1024

const history = []
for (const days of [30, 300]) history.push(await peak({ users: 300, days }))
const people = []
for (const users of [100, 100_000]) people.push(await peak({ users, days: 1 }))
report([
  { name: 'peak, 30 days of history', value: history[0], unit: 'MB' },
  { name: '300 days / 30 days', value: history[1] / history[0], unit: '×', most: 1.1 },
  { name: 'peak, a day of 100 users', value: people[0], unit: 'MB' },
  { name: 'a day of 100,000 users / of 100', value: people[1] / people[0], unit: '×', most: 1.1 },
])

function peak({ users, days }) {
  tell(`syncing ${days} days of ${users} users`)
  return withPlatform(users, (platform) =>
    withFolder(async (dataFolder) => {
      const last = addDays(HISTORY_BEGINS, days - 1)
      const { peakBytes, seconds } = await agentWarehouse(
        ['sync', '--from', HISTORY_BEGINS, '--to', last],
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
