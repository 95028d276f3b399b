// node bench/run.mjs --short [--repeat 20] [--keep]: the CPU time of each bench's work, as a ratio
// to a hand-written pass over the same input in the same run. Fails if a ratio exceeds its bound in
// short.json. `--keep` writes new bounds from the medians of this run.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beyond, boundsOf, median } from './figures.mjs'
import { writeDays, writeLake } from './lake.mjs'
import {
  addDays,
  agentWarehouse,
  benchFolder,
  discard,
  HISTORY_BEGINS,
  measure,
  root,
  tell,
  withFolder,
  withPlatform,
} from './lib.mjs'

const LANDED = { users: 10_000, days: 4 }
const BUILT = { users: 5_000, days: 20 }
/** Days before the new one. */
const RESTATED_AGE = 3
const REQUESTS = 3_000
/** Short work is measured more often. */
const REPEATED = { hand: 2, requests: 2, hooks: 8 }
/** The cheapest of this number of turns counts: other load only makes work more expensive. */
const TURNS = 2

const BOUNDS = join(benchFolder, 'short.json')
const script = (name) => join(benchFolder, 'short', name)

/**
 * Runs the benches `repeat` times; resolves to whether all ratios are within their bounds. A single
 * run is repeated if a ratio exceeds its bound: only the second time counts.
 */
export async function runShort({ repeat, keep }) {
  const bounds = JSON.parse(await readFile(BOUNDS, 'utf8'))
  const began = performance.now()
  const runs = []
  await withStage(async (stage) => {
    for (let run = 1; run <= repeat; run += 1) {
      runs.push(await ratiosOf(stage))
      tell(`run ${run} of ${repeat}: ${JSON.stringify(runs.at(-1))}`)
    }
    const isBeyond = ([name, ratio]) => beyond([ratio], bounds[name]) > 0
    if (repeat > 1 || keep || !Object.entries(runs[0]).some(isBeyond)) return
    runs.push(await ratiosOf(stage))
    tell(`repeated: ${JSON.stringify(runs.at(-1))}`)
  })
  const ratios = new Map(Object.keys(runs[0]).map((name) => [name, runs.map((run) => run[name])]))
  if (keep) Object.assign(bounds, boundsOf(runs))
  if (keep) await writeFile(BOUNDS, `${JSON.stringify(bounds, null, 2)}\n`)
  for (const [name, all] of ratios) process.stdout.write(`${lineOf(name, all, bounds[name])}\n`)
  tell(`${((performance.now() - began) / 1000).toFixed(0)} s`)
  const allowed = repeat === 1 ? runs.length - 1 : 0
  return [...ratios].every(([name, all]) => beyond(all, bounds[name]) <= allowed)
}

function lineOf(name, ratios, bound) {
  const [least, most] = [Math.min(...ratios), Math.max(...ratios)].map(shown)
  const missed = beyond(ratios, bound)
  const verdict = missed === 0 ? 'PASS' : 'MISS'
  const spread = `${least} to ${most}, median ${shown(median(ratios))}`
  return `${name.padEnd(12)} ${spread.padEnd(32)} at most ${shown(bound)}  ${verdict} ${missed} of ${ratios.length} beyond`
}

function shown(value) {
  return value === undefined ? 'no bound' : value.toPrecision(3)
}

/** Prepares what several benches share. */
function withStage(work) {
  return withPlatform(
    LANDED.users,
    (platform) =>
      withFolder((folder) =>
        withServer(async (server) => {
          const { users, days } = BUILT
          tell(`writing a lake of ${users * days} user days`)
          const built = join(folder, 'built')
          await writeLake(built, BUILT)
          await agentWarehouse(['build', '--log', 'none'], built)
          await writeDays(built, { users, indexes: [days], version: 1 })
          await writeDays(built, { users, indexes: [days - RESTATED_AGE], version: 2 })
          await cp(built, join(folder, 'evening'), { recursive: true, preserveTimestamps: true })
          await work({ platform, folder, server })
        }),
      ),
    { areSteady: true },
  )
}

/** A server that answers at once, and refuses nothing. */
async function withServer(work) {
  const child = fork(join(benchFolder, 'limited-server.mjs'))
  try {
    child.send({ rate: 1e6, burst: 1e6, style: 'none' })
    const [{ url }] = await once(child, 'message')
    await work(url)
  } finally {
    child.disconnect()
  }
}

/** CPU seconds of each bench's work, divided by those of the hand-written pass. */
async function ratiosOf(stage) {
  const spent = new Map()
  const spend = (name, taken) => {
    const seconds = taken.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0)
    spent.set(name, Math.min(seconds, spent.get(name) ?? Infinity))
  }
  for (let turn = 0; turn < TURNS; turn += 1) {
    await landingTurn(stage, spend)
    await buildTurn(stage, spend)
    await askingTurn(stage, spend)
    await hooksTurn(stage, spend)
  }
  const ratio = (name, hand) => Number((spent.get(name) / spent.get(hand)).toPrecision(4))
  /** For work dominated by the start of Node.js: only the part beyond the hand-written pass. */
  const beyondHand = (name, hand) => Number((ratio(name, hand) - 1).toPrecision(4))
  return {
    landing: ratio('landing', 'landing by hand'),
    base: ratio('base', 'base by hand'),
    night: ratio('night', 'build by hand'),
    'full refresh': ratio('full refresh', 'build by hand'),
    idle: ratio('idle', 'build by hand'),
    governor: beyondHand('governor', 'requests by hand'),
    hooks: beyondHand('hooks', 'record by hand'),
  }
}

async function landingTurn({ platform: { url, key }, folder }, spend) {
  const [ours, hands] = ['landed', 'landed-by-hand'].map((name) => join(folder, name))
  const days = ['--from', HISTORY_BEGINS, '--to', addDays(HISTORY_BEGINS, LANDED.days - 1)]
  const environment = {
    AGENT_BASE_URL: url,
    AGENT_API_KEY: key,
    AGENT_WAREHOUSE_RATE: '100000',
  }
  const file = join(hands, 'by-hand.duckdb')
  spend('landing by hand', [
    await measure(script('land-by-hand.mjs'), [url, key, String(LANDED.days), hands]),
    await measure(join(benchFolder, 'hand.mjs'), [hands, file]),
  ])
  const sync = ['sync', '--only', 'users', '--log', 'none', ...days]
  spend('landing', [await agentWarehouse(sync, ours, environment)])
  await rm(file)
  spend('base by hand', [await measure(join(benchFolder, 'hand.mjs'), [ours, file])])
  spend('base', [await measure(script('base.mjs'), [ours])])
  for (const each of [ours, hands]) await discard(each)
}

/** A run with one new and one restated day, then a full refresh, then a run without changes. */
async function buildTurn({ folder }, spend) {
  const built = join(folder, 'built') // under the same path: a folder that has moved is built anew
  await discard(built)
  await cp(join(folder, 'evening'), built, { recursive: true, preserveTimestamps: true })
  const build = (...flags) => agentWarehouse(['build', '--log', 'none', ...flags], built)
  spend('night', [await build()])
  spend('full refresh', [await build('--full-refresh')])
  spend('idle', [await build()])
  const file = join(folder, 'by-hand.duckdb')
  for (let turn = 0; turn < REPEATED.hand; turn += 1) {
    spend('build by hand', [await measure(join(benchFolder, 'by-hand.mjs'), [built, file])])
    await rm(file)
  }
}

async function askingTurn({ server }, spend) {
  const ask = (how) => measure(script('ask.mjs'), [server, String(REQUESTS), how])
  for (let turn = 0; turn < REPEATED.requests; turn += 1) {
    spend('requests by hand', [await ask('loop')])
    spend('governor', [await ask('client')])
  }
}

async function hooksTurn({ folder }, spend) {
  const [ours, hands] = ['hooks', 'hooks-by-hand'].map((name) => join(folder, name))
  for (const each of [ours, hands]) await mkdir(each, { recursive: true })
  const input = JSON.stringify({ hook_event_name: 'Stop', session_id: 'a', message: 'done' })
  const hook = ['hooks', 'run', '--data', ours, '--config', join(ours, 'none.yaml')]
  for (let turn = 0; turn < REPEATED.hooks; turn += 1) {
    spend('record by hand', [await measure(script('record-by-hand.mjs'), [hands], {}, input)])
    spend('hooks', [await measure(join(root, 'dist', 'cli', 'main.js'), hook, {}, input)])
  }
}
