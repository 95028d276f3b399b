// A platform with prepared responses in its own process. A real platform runs on other machines: it
// takes time, but no CPU of the client's machine. Until the command `ready`, it forwards requests to
// the stand-in. Then each answer takes as long as the stand-in took for it alone; concurrent
// requests share that time. After the command `quick`, responses take no time; after `faulty`, some
// of them fail as peers/faults.mjs says.
import { createServer, request as ask } from 'node:http'
import { startEmulator } from '../dist/emulator/emulator.js'
import { fail, planFaults } from './peers/faults.mjs'

/** How often pending responses are continued, in milliseconds. */
const TICK = 1

/** The smallest piece of a body that is sent, in bytes. */
const PIECE = 65_536

const [, , users, clock, kind] = process.argv
const start = () =>
  startEmulator({ now: () => Number(clock), users: Number(users), areSteady: kind === 'steady' })
const standIn = await start()
/** Responses by path and query: status, headers, body, and milliseconds until its end. */
const prepared = new Map()
const asked = []
let faults = new Map()

const server = createServer(async ({ url: path }, response) => {
  asked.push(path)
  const fault = faults.get(path)
  if (fault !== undefined && fail(fault, response)) return
  const answer = fault?.answer ?? prepared.get(path)
  if (answer !== undefined) return begin({ answer, response, elapsed: 0, sent: 0 })
  const { status, headers, body } = await answerOf(standIn, path)
  response.writeHead(status, headers).end(body)
})
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address()
  process.send({ url: `http://127.0.0.1:${port}`, key: standIn.keys.owner })
})

const work = {
  /** The requests since the last call. */
  requests: () => asked.splice(0),
  /** Sends the same requests, one by one, to a new stand-in. */
  ready: async () => {
    const fresh = await start()
    for (const path of new Set(asked.splice(0))) prepared.set(path, await answerOf(fresh, path))
    await fresh.close()
    return [...prepared.values()].reduce((sum, { whole }) => sum + whole, 0) / 1000
  },
  quick: () => {
    for (const answer of prepared.values()) Object.assign(answer, { head: 0, whole: 0 })
    return prepared.size
  },
  /** Each fault is met once more. */
  faulty: () => {
    faults = planFaults(prepared)
    return faults.size
  },
  /** How many requests were refused because of them. */
  refused: () =>
    [...faults.values()]
      .filter(({ kind }) => kind === 'refused')
      .reduce((sum, { failed }) => sum + failed, 0),
}
process.on('message', async (name) => process.send(await work[name]()))
process.on('disconnect', () => process.exit())

function answerOf(platform, path) {
  const began = performance.now()
  const authorization = `Bearer ${platform.keys.owner}`
  return new Promise((resolve, reject) => {
    const call = ask(platform.url + path, { headers: { authorization } }, async (response) => {
      const head = performance.now() - began
      const pieces = []
      for await (const piece of response) pieces.push(piece)
      const { 'transfer-encoding': _, connection: __, ...headers } = response.headers
      const whole = performance.now() - began
      resolve({ status: response.statusCode, headers, body: Buffer.concat(pieces), head, whole })
    })
    call.on('error', reject).end()
  })
}

/** Responses that are not fully sent. */
const underWay = new Set()
let last = performance.now()

function begin(each) {
  underWay.add(each)
  each.response.once('close', () => underWay.delete(each))
}

setInterval(() => {
  let left = performance.now() - last
  last += left
  while (left > 0 && underWay.size > 0) {
    const needs = [...underWay].map(({ answer, elapsed }) => answer.whole - elapsed)
    const share = Math.min(left / underWay.size, ...needs)
    left -= Math.max(share, 1e-6) * underWay.size
    for (const each of underWay) goOn(each, share)
  }
}, TICK)

function goOn(each, share) {
  const { answer, response } = each
  each.elapsed += share
  if (each.elapsed < answer.head) return
  if (!response.headersSent) response.writeHead(answer.status, answer.headers)
  const isWhole = each.elapsed >= answer.whole
  const ofBody = isWhole ? 1 : (each.elapsed - answer.head) / (answer.whole - answer.head)
  const until = Math.floor(answer.body.length * ofBody)
  if (isWhole) underWay.delete(each)
  if (isWhole) response.end(answer.body.subarray(each.sent))
  else if (until - each.sent >= PIECE) response.write(answer.body.subarray(each.sent, until))
  else return
  each.sent = until
}
