// The models, checks and publication of a nightly run with one new day and three restated days, on
// a long history and on one a tenth as long, compared with a full refresh.
import { constants } from 'node:fs'
import { copyFile, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Database, literal } from '../dist/lib/duckdb.js'
import { sha256OfFile } from '../dist/lib/files.js'
import { writeDays, writeLake } from './lake.mjs'
import { agentWarehouse, median, report, tell, withFolder } from './lib.mjs'

const USERS = 10_000
const DAYS = 300
const NIGHTS = 3
const RESTATED_AGES = [1, 3, 14]
const MEGABYTE = 1024 * 1024
const HUNDRED_GB = 100e9

const long = await history(DAYS)
const short = await history(DAYS / 10)
report([
  { name: 'user days', value: USERS * DAYS, unit: 'rows' },
  { name: 'full refresh', value: long.full, unit: 's' },
  { name: 'night', value: long.night, unit: 's' },
  { name: 'night / full refresh', value: long.night / long.full, unit: '×', most: 0.2 },
  { name: 'night on a tenth of the history', value: short.night, unit: 's' },
  { name: 'night / night on a tenth', value: long.night / short.night, unit: '×', most: 3 },
  { name: 'base of the night, before it', value: long.base, unit: 's' },
  { name: 'all marts / all facts, full refresh', value: long.marts, unit: '×', most: 1 },
  { name: 'peak memory of a full refresh', value: long.fullPeak, unit: 'MB', most: 2048 },
  { name: 'peak memory of a night', value: long.nightPeak, unit: 'MB', most: 2048 },
  { name: 'published file', value: long.copied.bytes / MEGABYTE, unit: 'MB' },
  { name: 'to copy it and read both digests', value: long.copied.seconds, unit: 's' },
  {
    name: 'the same for 100 GB',
    value: (long.copied.seconds / long.copied.bytes) * HUNDRED_GB,
    unit: 's',
  },
])

function history(days) {
  return withFolder(async (dataFolder) => {
    tell(`writing a raw lake of ${USERS * days} user days, and base from it`)
    await writeLake(dataFolder, { users: USERS, days })
    await build(dataFolder)
    const [fulls, nights] = [[], []]
    for (let turn = 0; turn < NIGHTS; turn += 1) {
      tell(`${days} days, turn ${turn + 1} of ${NIGHTS}`)
      fulls.push(await build(dataFolder, '--full-refresh'))
      await changeDays(dataFolder, days + turn)
      nights.push(await build(dataFolder))
    }
    await expectEqual(dataFolder)
    const copied = await copyPublished(join(dataFolder, 'warehouse.duckdb'))
    const middle = (builds, name) => median(builds.map((taken) => taken[name]))
    return {
      full: middle(fulls, 'build'),
      night: middle(nights, 'build'),
      base: middle(nights, 'normalize'),
      marts: middle(fulls, 'marts'),
      fullPeak: peakOf(fulls),
      nightPeak: peakOf(nights),
      copied,
    }
  })
}

/**
 * What a night does with the whole published file, however little is new: a build continues in a
 * copy, whose digest it verifies, and records the digest of the file that it publishes.
 */
async function copyPublished(path) {
  const copy = `${path}.copy`
  const began = performance.now()
  await copyFile(path, copy, constants.COPYFILE_FICLONE)
  await sha256OfFile(copy)
  await sha256OfFile(copy)
  const seconds = (performance.now() - began) / 1000
  const { size } = await stat(copy)
  await rm(copy)
  return { bytes: size, seconds }
}

/** One new day, and three days of the last two weeks whose responses changed. */
async function changeDays(dataFolder, newest) {
  const restated = RESTATED_AGES.map((age) => newest - age)
  await writeDays(dataFolder, { users: USERS, indexes: [newest], version: 1 })
  await writeDays(dataFolder, { users: USERS, indexes: restated, version: newest })
}

/** Seconds of each stage, and peak memory. */
async function build(dataFolder, ...flags) {
  const { output, peakBytes } = await agentWarehouse(
    ['build', '--log', 'json', ...flags],
    dataFolder,
  )
  const stages = output
    .split('\n')
    .filter((line) => line.includes('"stage.finished"'))
    .map((line) => JSON.parse(line))
    .map(({ stage, durationMs }) => [stage, durationMs / 1000])
  return { ...Object.fromEntries(stages), peakBytes, marts: await martsToFacts(dataFolder) }
}

/** The seconds that the models named `mart_` took, by those of the models named `fct_`. */
async function martsToFacts(dataFolder) {
  const { results } = JSON.parse(await readFile(join(dataFolder, 'target', 'run_results.json')))
  const seconds = (prefix) =>
    results
      .filter(({ unique_id: id }) => id.startsWith(`model.agent_warehouse.${prefix}`))
      .reduce((sum, { execution_time: time }) => sum + time, 0)
  return seconds('mart_') / seconds('fct_')
}

function peakOf(builds) {
  return Math.max(...builds.map(({ peakBytes }) => peakBytes)) / MEGABYTE
}

/** A fast but wrong build must not become a figure: compares the last night with a full refresh. */
async function expectEqual(dataFolder) {
  const [nightly, whole] = ['nightly', 'warehouse'].map((n) => join(dataFolder, `${n}.duckdb`))
  await copyFile(whole, nightly)
  await build(dataFolder, '--full-refresh')
  const database = await Database.open(':memory:')
  try {
    await database.run(`attach ${literal(nightly)} as nightly (read_only);
      attach ${literal(whole)} as whole (read_only)`)
    for (const fact of ['fct_user_day', 'fct_user_model_day', 'fct_user_language_day']) {
      const [row] = await database.rows(`
        select count(*) as n, sum(hash(fact)) as digest from nightly.${fact} as fact
        intersect
        select count(*) as n, sum(hash(fact)) as digest from whole.${fact} as fact`)
      if (row === undefined) throw new Error(`${fact} is not what a full refresh makes`)
    }
  } finally {
    database.close()
    await rm(nightly)
  }
}
