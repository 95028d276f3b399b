// How close the governor comes to an unknown limit, and how rarely it is refused: for servers that
// allow R requests per second and a burst of B, with each style of headers and without any.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { ApiClient } from '../dist/client/index.js'
import { createWorld } from '../dist/cli/world.js'
import { benchFolder, report, tell } from './lib.mjs'

const STYLES = [
  'Retry-After',
  'RateLimit',
  'RateLimit, draft 07',
  'X-RateLimit, delta',
  'X-RateLimit, epoch',
  'none',
]
/** Requests per second, burst, seconds of work. */
const BUCKETS = [
  [100, 50, 30],
  [50, 10, 30],
  [20, 5, 30],
  [10, 10, 40],
]
/** The 331 requests of a first night: 40 people, 312 days. */
const FIRST_NIGHT = [20, 5, 16.3]
/** As many as a run starts at once, and more than may be in flight. */
const TASKS = 16
const DAY = { startDate: '2026-03-01', endDate: '2026-03-01' }

const child = fork(join(benchFolder, 'limited-server.mjs'))
const { world, close } = createWorld(() => undefined, process.env)
try {
  const cold = []
  for (const style of STYLES) {
    const buckets = [...BUCKETS, FIRST_NIGHT]
    cold.push(...(await inParallel(buckets.map((bucket) => ({ style, bucket })))))
  }
  const isWarmed = ({ style, bucket }) => style === 'Retry-After' || bucket === FIRST_NIGHT
  const warm = await inParallel(cold.filter(isWarmed))
  report([
    ...cold.flatMap((result) => figuresOf(result, '')),
    ...warm.flatMap((result) => figuresOf(result, ', remembered')),
  ])
} finally {
  await close()
  child.disconnect()
}

/** One server and one client for each; together they use little of this machine. */
async function inParallel(runs) {
  const ready = []
  for (const run of runs) ready.push({ ...run, ...(await startServer(run)) })
  const took = await Promise.all(ready.map((run) => ask(run)))
  child.send('counts')
  const [counts] = await once(child, 'message')
  return took.map((run) => told({ ...run, ...counts[run.index] }))
}

async function startServer({ bucket, style }) {
  const [rate, burst] = bucket
  child.send({ rate, burst, style })
  const [{ url, index }] = await once(child, 'message')
  return { url, index }
}

/** Starts all requests at once; the governor times them. */
async function ask({ url, index, bucket, style, learned }) {
  const [rate, burst, seconds] = bucket
  const client = new ApiClient(
    { baseUrl: url, credential: 'k', rate: 1000, concurrency: 8, deadline: Infinity, learned },
    world,
  )
  let left = Math.round(burst + rate * seconds)
  const began = performance.now()
  const work = async () => {
    for (; left > 0;) {
      left -= 1
      await client.tools(DAY)
    }
  }
  await Promise.all(Array.from({ length: TASKS }, work))
  const took = (performance.now() - began) / 1000
  return { index, bucket, style, learned: client.learned(), took }
}

function told(run) {
  const { style, bucket, took, served, refused } = run
  const [rate, burst] = bucket
  const what = `${style}, ${rate} a second, ${burst} at once`
  tell(`${what}: ${served} requests in ${took.toFixed(1)} s, ${refused} refused`)
  return run
}

function figuresOf({ style, bucket, took, served, refused }, suffix) {
  const [rate, burst, seconds] = bucket
  const isFirst = bucket === FIRST_NIGHT
  const name = `${style}${suffix}, R=${rate} B=${burst}${isFirst ? ', first night' : ''}`
  const most = suffix === '' && (isFirst || style === 'none') ? 1.25 : 1.1
  return [
    { name: `${name}: time`, value: took / seconds, unit: '×(N−B)/R', most },
    { name: `${name}: refused`, value: (refused / served) * 100, unit: '%', most: 1 },
  ]
}
