// How cost grows: with the users, with the days and with the organisations. Each point is a first
// run, the next morning and a full refresh, on the stand-in platform. Measures the points that fit
// into some minutes; others by argument, and writes docs/scale.md and assets/scale.svg from all
// that was ever measured (bench/scale.json):
//   node bench/scale.mjs users=100000 organisations=1000    these points
//   node bench/scale.mjs page                               no point: the page alone
import { spawnSync } from 'node:child_process'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  addDays,
  agentWarehouse,
  benchFolder,
  configureOrganisations,
  HISTORY_BEGINS,
  machineHere,
  report,
  root,
  tell,
  withFolder,
  withPlatform,
} from './lib.mjs'
import { AXES, exponent, shapeOf, writePage } from './scale-page.mjs'

const DEFAULT = ['users=10', 'users=100', 'users=1000', 'days=100', 'organisations=10']
const RESULTS = join(benchFolder, 'scale.json')
const CLOCK = `--import=${join(benchFolder, 'clock.mjs')}`

const wanted = process.argv.slice(2)
const points = (wanted.length === 0 ? DEFAULT : wanted).filter((each) => each !== 'page')
let measured = JSON.parse(await readFile(RESULTS, 'utf8').catch(() => '[]'))
for (const each of points) {
  const point = await measurePoint(shapeOf(each))
  measured = [...measured.filter((other) => !isSame(other, point)), point].sort(inOrder)
  await writeFile(RESULTS, `${JSON.stringify(measured, null, 2)}\n`)
}
await writePage(measured)
report(
  AXES.flatMap(({ name, unit }) =>
    ['first', 'nightly', 'full'].flatMap((command) => {
      const value = exponent(measured, name, command, 'cpuSeconds')
      return value === null ? [] : [{ name: `${command}, exponent by ${name}`, value, unit }]
    }),
  ),
)

async function measurePoint({ users, days, organisations }) {
  const size = `${organisations} × ${users} users, ${days} days`
  tell(size)
  return withFolder(async (folder) => {
    const data = join(folder, 'data')
    const config = ['--config', join(folder, 'agent-warehouse.yaml'), '--log', 'none']
    const taken = async (now, ...args) => {
      const run = await agentWarehouse([...args, ...config], data, {
        AGENT_WAREHOUSE_RATE: '100000',
        ...(now > Date.now() ? { BENCH_NOW: String(now), NODE_OPTIONS: CLOCK } : {}),
      })
      const { seconds, cpuSeconds, peakBytes } = run
      tell(`  ${args.join(' ')}: ${seconds.toFixed(0)} s, ${cpuSeconds.toFixed(0)} s of processors`)
      return { seconds, cpuSeconds, peakBytes }
    }
    const morningAfter = (day) => Date.parse(`${addDays(HISTORY_BEGINS, day)}T06:00:00Z`)
    const night = (now) =>
      withPlatform(
        users,
        async (platform) => {
          await configureOrganisations(folder, platform)
          return taken(now, 'run')
        },
        { now, areSteady: true, organisations },
      )
    const first = await night(morningAfter(days))
    const bytes = {
      raw: await bytesIn(join(data, 'lake', 'raw')),
      base: await bytesIn(join(data, 'lake', 'base')),
      warehouse: await bytesIn(join(data, 'warehouse.duckdb')),
    }
    const nightly = await night(morningAfter(days + 1))
    const full = await taken(morningAfter(days + 1), 'build', '--full-refresh')
    const at = new Date().toISOString()
    const { status, stdout } = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root })
    const commit = status === 0 ? String(stdout).trim() : null
    return {
      users,
      days,
      organisations,
      at,
      commit,
      machine: machineHere(),
      first,
      nightly,
      full,
      bytes,
    }
  })
}

/** Bytes of a file, or of the files in a folder. */
async function bytesIn(path) {
  const { size, isDirectory } = await stat(path).then((each) => ({
    size: each.size,
    isDirectory: each.isDirectory(),
  }))
  if (!isDirectory) return size
  const sizes = await Promise.all((await readdir(path)).map((name) => bytesIn(join(path, name))))
  return sizes.reduce((sum, each) => sum + each, 0)
}

function isSame(a, b) {
  return AXES.every(({ name }) => a[name] === b[name])
}

function inOrder(a, b) {
  return a.organisations - b.organisations || a.days - b.days || a.users - b.users
}
