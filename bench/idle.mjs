// A night on which one day is new and nothing else has changed, over a large
// history: how many requests it makes, and what it takes beyond the platform's own time.
import { request } from 'undici'
import {
  addDays,
  agentWarehouse,
  HISTORY_BEGINS,
  report,
  tell,
  withFolder,
  withPlatform,
} from './lib.mjs'

/** Of whom a third is active on a day. */
const PEOPLE = 28_500
const DAYS = 300
const PAGE = 100
const AT_ONCE = 4

await withFolder(async (dataFolder) => {
  tell(`landing ${DAYS} days`)
  await night(DAYS, ({ env }) => agentWarehouse(['run', '--log', 'none'], dataFolder, env))
  tell('one day later')
  const taken = await night(DAYS + 1, ({ env }) =>
    agentWarehouse(['run', '--log', 'json'], dataFolder, env),
  )
  const requests = requestsOf(taken.output)
  tell('the same requests alone')
  const alone = await night(DAYS + 1, (platform) => replay(platform, requests))
  const ofAnalytics = requests.filter((path) => path.includes('/analytics/'))
  const pages = ofAnalytics.filter((path) => path.includes('/users?')).length
  report([
    {
      name: 'analytics, beside pages of users',
      value: ofAnalytics.length - pages,
      unit: '',
      most: 12,
    },
    { name: 'pages of users', value: pages, unit: '' },
    { name: 'beside analytics', value: requests.length - ofAnalytics.length, unit: '' },
    { name: 'the platform alone', value: alone, unit: 's' },
    { name: 'whole night', value: taken.seconds, unit: 's' },
    { name: 'beyond the platform', value: taken.seconds - alone, unit: 's', most: 10 },
    { name: 'peak memory', value: taken.peakBytes / 1024 ** 2, unit: 'MB' },
  ])
})

/** The platform on the morning after that many days of history. */
function night(days, work) {
  const morning = Date.parse(`${addDays(HISTORY_BEGINS, days)}T06:00:00Z`)
  return withPlatform(
    PEOPLE,
    ({ url, key }) =>
      work({
        url,
        key,
        env: {
          AGENT_BASE_URL: url,
          AGENT_API_KEY: key,
          AGENT_WAREHOUSE_RATE: '100000',
          AGENT_WAREHOUSE_CONCURRENCY: String(AT_ONCE),
        },
      }),
    morning,
  )
}

function requestsOf(log) {
  return log
    .split('\n')
    .filter((line) => line.includes('"request.finished"'))
    .map((line) => JSON.parse(line).path)
}

/** Seconds that the same requests take a client that does nothing with the answers, of a platform that was asked for nothing before either. */
async function replay({ url, key }, paths) {
  const queue = [...paths]
  const began = performance.now()
  const ask = async () => {
    for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
      const { body } = await request(url + path, { headers: { authorization: `Bearer ${key}` } })
      await body.dump({ limit: Infinity })
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, ask))
  return (performance.now() - began) / 1000
}
