// A night on which one day is new and nothing else has changed, over a large
// history: how many requests it makes, and what it takes beyond the platform's own time.
import { execFileSync } from 'node:child_process'
import { cp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { request } from 'undici'
import {
  addDays,
  agentWarehouse,
  HISTORY_BEGINS,
  median,
  report,
  tell,
  withFolder,
  withPlatform,
  withStolenShare,
} from './lib.mjs'

/** All of whom are there on every day. */
const PEOPLE = 10_000
const DAYS = 300
/** As many requests at once as a run makes that is not told otherwise. */
const AT_ONCE = 8

/** What a night takes is also chance. */
const NIGHTS = 5

/** On a shared machine others take their part: of so many nights at most, those count that lost least. */
const MOST_NIGHTS = 12

/** A night that lost no more than this share of the processors' time is as good as one that lost nothing. */
const QUIET = 0.03

await withFolder(async (folder) => {
  const dataFolder = join(folder, 'data')
  const landed = join(folder, 'landed')
  tell(`landing ${DAYS} days`)
  await night(DAYS, ({ env }) => agentWarehouse(['run', '--log', 'none'], dataFolder, env))
  await rename(dataFolder, landed)
  const all = []
  const isQuiet = ({ stolen }) => stolen <= QUIET
  while (all.length < MOST_NIGHTS && all.filter(isQuiet).length < NIGHTS) {
    await rm(dataFolder, { recursive: true, force: true })
    // under the same path: a folder that has moved is built anew
    await cp(landed, dataFolder, { recursive: true })
    execFileSync('sync') // what was just copied is no work of the night
    all.push(await nextNight(dataFolder))
  }
  const nights = all.sort((a, b) => a.stolen - b.stolen).slice(0, NIGHTS)
  const medianOf = (figure) => median(nights.map(figure))
  const beyond = nights.map(({ whole, alone }) => whole - alone)
  const { requests, megabytes } = nights[0]
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
    { name: 'answers', value: megabytes, unit: 'MB' },
    { name: 'beside analytics', value: requests.length - ofAnalytics.length, unit: '' },
    { name: 'the platform alone', value: medianOf(({ alone }) => alone), unit: 's' },
    { name: 'whole night', value: medianOf(({ whole }) => whole), unit: 's' },
    { name: `beyond the platform, of ${NIGHTS}`, value: median(beyond), unit: 's', most: 10 },
    { name: 'the slowest', value: Math.max(...beyond), unit: 's' },
    { name: 'the fastest', value: Math.min(...beyond), unit: 's' },
    { name: 'nights in all', value: all.length, unit: '' },
    { name: 'taken by other machines', value: medianOf(({ stolen }) => stolen * 100), unit: '%' },
    { name: 'peak memory', value: medianOf(({ peak }) => peak), unit: 'MB' },
  ])
})

/** One day later; then the same requests alone. */
async function nextNight(dataFolder) {
  tell('one day later')
  const run = await withStolenShare(() =>
    night(DAYS + 1, async (platform) => ({
      taken: await agentWarehouse(['run'], dataFolder, platform.env),
      requests: await platform.requests(),
    })),
  )
  const { taken, requests } = run.result
  const again = await withStolenShare(() =>
    night(DAYS + 1, (platform) => replay(platform, requests)),
  )
  const { seconds: alone, megabytes } = again.result
  const { seconds: whole, peakBytes } = taken
  const stolen = Math.max(run.stolen, again.stolen)
  const lost = `${(stolen * 100).toFixed(0)} % taken by other machines`
  tell(`  ${whole.toFixed(1)} s, the requests alone ${alone.toFixed(1)} s, ${lost}`)
  return { whole, alone, requests, megabytes, stolen, peak: peakBytes / 1024 ** 2 }
}

/** The platform on the morning after that many days of history. */
function night(days, work) {
  const morning = Date.parse(`${addDays(HISTORY_BEGINS, days)}T06:00:00Z`)
  return withPlatform(
    PEOPLE,
    (platform) =>
      work({
        ...platform,
        env: {
          AGENT_BASE_URL: platform.url,
          AGENT_API_KEY: platform.key,
          AGENT_WAREHOUSE_RATE: '100000',
        },
      }),
    { now: morning, areSteady: true },
  )
}

/**
 * What the same requests take a client that reads the answers and does nothing with them, of a
 * platform that was asked for nothing before either.
 */
async function replay({ url, key }, paths) {
  const queue = [...paths]
  let bytes = 0
  const began = performance.now()
  const ask = async () => {
    for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
      const { body } = await request(url + path, { headers: { authorization: `Bearer ${key}` } })
      for await (const piece of body) bytes += piece.byteLength
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, ask))
  return { seconds: (performance.now() - began) / 1000, megabytes: bytes / 1024 ** 2 }
}
