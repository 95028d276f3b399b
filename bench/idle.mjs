// A nightly run in which one day is new and nothing else changed, over a large history: the number
// of requests, and the time beyond the platform's own.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, rename } from 'node:fs/promises'
import { join } from 'node:path'
import {
  addDays,
  discard,
  HISTORY_BEGINS,
  median,
  report,
  tell,
  withFolder,
  withPlatform,
  withPreparedPlatform,
} from './lib.mjs'
import { measured, night } from './night.mjs'

/** Every person is active every day. */
const PEOPLE = 10_000
const DAYS = 300

/** The result is the median of this number of nights. */
const NIGHTS = 5

/** On a shared machine, the nights that lost the least CPU time count, of at most this number. */
const MOST_NIGHTS = 12

/** A night that lost at most this share of CPU time is quiet. */
const QUIET = 0.03

/** Nights with a stand-in that computes its responses on the same CPUs: reported without a target. */
const LOADED_NIGHTS = 3

await withFolder(async (folder) => {
  const dataFolder = join(folder, 'data')
  const landed = join(folder, 'landed')
  tell(`landing ${DAYS} days`)
  await withStandIn(DAYS, (platform) => night(dataFolder, platform))
  await rename(dataFolder, landed)
  const oneDayLater = async (platform) => {
    if (existsSync(dataFolder)) await discard(dataFolder)
    // under the same path: the views of a folder that has moved are created again
    await cp(landed, dataFolder, { recursive: true })
    execFileSync('sync') // writing the copy to disk must not count
    return night(dataFolder, platform)
  }
  const { nights, all } = await preparedNights(oneDayLater)
  const loaded = await loadedNights(oneDayLater)
  const medianOf = (figure) => median(nights.map(figure))
  const beyond = nights.map(({ whole, alone }) => whole - alone)
  const { requests, megabytes } = nights[0]
  const ofAnalytics = requests.filter((path) => path.includes('/analytics/'))
  const pages = ofAnalytics.filter((path) => path.includes('/users?')).length
  report([
    {
      name: 'analytics requests without pages of users',
      value: ofAnalytics.length - pages,
      unit: '',
      most: 12,
    },
    { name: 'pages of users', value: pages, unit: '' },
    { name: 'answers', value: megabytes, unit: 'MB' },
    { name: 'other requests', value: requests.length - ofAnalytics.length, unit: '' },
    { name: 'the platform alone', value: medianOf(({ alone }) => alone), unit: 's' },
    { name: 'whole night', value: medianOf(({ whole }) => whole), unit: 's' },
    { name: `beyond the platform, of ${NIGHTS}`, value: median(beyond), unit: 's', most: 3 },
    { name: 'the slowest', value: Math.max(...beyond), unit: 's' },
    { name: 'the fastest', value: Math.min(...beyond), unit: 's' },
    { name: 'nights measured', value: all.length, unit: '' },
    {
      name: 'CPU time taken by other machines',
      value: medianOf(({ stolen }) => stolen * 100),
      unit: '%',
    },
    { name: 'peak memory', value: medianOf(({ peak }) => peak), unit: 'MB' },
    {
      name: `beyond a stand-in on the same CPUs, of ${LOADED_NIGHTS}`,
      value: median(loaded.map(({ whole, alone }) => whole - alone)),
      unit: 's',
    },
  ])
})

/** Nights with a platform whose responses are prepared. */
function preparedNights(oneDayLater) {
  return withPreparedPlatform(PEOPLE, morningAfter(DAYS + 1), async (platform) => {
    await oneDayLater(platform)
    tell(`answers are prepared, of ${(await platform.ask('ready')).toFixed(1)} s`)
    const all = []
    const isQuiet = ({ stolen }) => stolen <= QUIET
    while (all.length < MOST_NIGHTS && all.filter(isQuiet).length < NIGHTS)
      all.push(await measured(platform, platform, oneDayLater))
    return { all, nights: [...all].sort((a, b) => a.stolen - b.stolen).slice(0, NIGHTS) }
  })
}

/** Nights with a new stand-in that computes its responses. */
async function loadedNights(oneDayLater) {
  const nights = []
  while (nights.length < LOADED_NIGHTS) {
    const night = await withStandIn(DAYS + 1, (platform) =>
      withStandIn(DAYS + 1, (fresh) => measured(platform, fresh, oneDayLater)),
    )
    nights.push(night)
  }
  return nights
}

/** A stand-in on the morning after that many days of history. */
function withStandIn(days, work) {
  return withPlatform(PEOPLE, work, { now: morningAfter(days), areSteady: true })
}

function morningAfter(days) {
  return Date.parse(`${addDays(HISTORY_BEGINS, days)}T06:00:00Z`)
}
