// A night on which one day is new and nothing else has changed, over a large
// history: how many requests it makes, and what it takes beyond the platform's own time.
import { execFileSync } from 'node:child_process'
import { cp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import {
  addDays,
  HISTORY_BEGINS,
  median,
  report,
  tell,
  withFolder,
  withPlatform,
  withPreparedPlatform,
} from './lib.mjs'
import { measured, night } from './night.mjs'

/** All of whom are there on every day. */
const PEOPLE = 10_000
const DAYS = 300

/** What a night takes is also chance. */
const NIGHTS = 5

/** On a shared machine others take their part: of so many nights at most, those count that lost least. */
const MOST_NIGHTS = 12

/** A night that lost no more than this share of the processors' time is as good as one that lost nothing. */
const QUIET = 0.03

/** Nights beside a stand-in that makes its answers on the same processors: told, and no target. */
const NIGHTS_BESIDE = 3

await withFolder(async (folder) => {
  const dataFolder = join(folder, 'data')
  const landed = join(folder, 'landed')
  tell(`landing ${DAYS} days`)
  await withStandIn(DAYS, (platform) => night(dataFolder, platform))
  await rename(dataFolder, landed)
  const oneDayLater = async (platform) => {
    await rm(dataFolder, { recursive: true, force: true })
    // under the same path: a folder that has moved is built from scratch
    await cp(landed, dataFolder, { recursive: true })
    execFileSync('sync') // what was just copied is no work of the night
    return night(dataFolder, platform)
  }
  const { nights, all } = await preparedNights(oneDayLater)
  const beside = await nightsBeside(oneDayLater)
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
    { name: `beyond the platform, of ${NIGHTS}`, value: median(beyond), unit: 's', most: 3 },
    { name: 'the slowest', value: Math.max(...beyond), unit: 's' },
    { name: 'the fastest', value: Math.min(...beyond), unit: 's' },
    { name: 'nights in all', value: all.length, unit: '' },
    { name: 'taken by other machines', value: medianOf(({ stolen }) => stolen * 100), unit: '%' },
    { name: 'peak memory', value: medianOf(({ peak }) => peak), unit: 'MB' },
    {
      name: `beyond a stand-in at work here, of ${NIGHTS_BESIDE}`,
      value: median(beside.map(({ whole, alone }) => whole - alone)),
      unit: 's',
    },
  ])
})

/** Nights of a platform that has its answers ready. */
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

/** The same beside a stand-in that makes them, and was asked for nothing before. */
async function nightsBeside(oneDayLater) {
  const nights = []
  while (nights.length < NIGHTS_BESIDE) {
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
