// The time of a first night of a small organisation over the whole history, beyond the platform's
// own time; and the time of the demo.
import { join } from 'node:path'
import { agentWarehouse, median, report, tell, withFolder, withPreparedPlatform } from './lib.mjs'
import { measured, night } from './night.mjs'

const PEOPLE = 40
const NIGHTS = 5
const DEMOS = 3

/** The morning after 312 days of history. */
const NOW = Date.parse('2026-11-22T06:00:00Z')

const nights = await withPreparedPlatform(PEOPLE, NOW, async (platform) => {
  const firstNight = () => withFolder((folder) => night(join(folder, 'data'), platform))
  await firstNight()
  tell(`answers are prepared, of ${(await platform.ask('ready')).toFixed(1)} s`)
  const all = []
  while (all.length < NIGHTS) all.push(await measured(platform, platform, firstNight))
  return all
})

const demos = []
while (demos.length < DEMOS) {
  const taken = await withFolder((folder) => agentWarehouse(['demo'], join(folder, 'data')))
  demos.push(taken.seconds)
}

const beyond = nights.map(({ whole, alone }) => whole - alone)
report([
  { name: 'requests', value: nights[0].requests.length, unit: '' },
  { name: 'the platform alone', value: median(nights.map(({ alone }) => alone)), unit: 's' },
  { name: `beyond the platform, of ${NIGHTS}`, value: median(beyond), unit: 's', most: 8 },
  { name: 'the fastest', value: Math.min(...beyond), unit: 's' },
  { name: 'CPU', value: median(nights.map(({ cpuSeconds }) => cpuSeconds)), unit: 's' },
  { name: 'peak memory', value: median(nights.map(({ peak }) => peak)), unit: 'MB' },
  { name: `demo, of ${DEMOS}`, value: median(demos), unit: 's', most: 20 },
])
