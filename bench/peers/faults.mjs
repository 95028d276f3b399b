// The faults of `make bench-peers`: the same pages fail in the same way for every tool.

/** One page in so many has a fault; the kinds take turns. */
const ONE_IN = 50

/** A request that is refused may be sent again after a second; clocks differ by less than this. */
const REFUSED_MS = 950

/** What goes wrong with a page. All but the last are over when the page is requested again, in time. */
export const KINDS = {
  error: 'HTTP 500',
  refused: 'HTTP 429 with `Retry-After: 1`',
  cut: 'a response cut off in the middle',
  reset: 'a connection closed without a response',
  moved: 'a user who moved to the next page while the pages were read, and so is served twice',
}

/** Faults by path, for responses by path in the order in which a day is paginated. */
export function planFaults(answers) {
  const kinds = Object.keys(KINDS)
  const faults = new Map()
  let [before, at] = [undefined, 0]
  for (const [path, answer] of answers) {
    const kind = kinds[Math.floor(at / ONE_IN) % kinds.length]
    const isFaulty = at % ONE_IN === ONE_IN / 2
    if (isFaulty && kind !== 'moved') faults.set(path, { kind, answer, failed: 0 })
    else if (isFaulty && path.includes('cursor='))
      faults.set(path, { kind, answer: withLastOf(before, answer), failed: 1 })
    before = answer
    at += 1
  }
  return faults
}

/** The page with the last row of the page before it as its first. */
function withLastOf(before, answer) {
  const page = JSON.parse(answer.body)
  const data = [JSON.parse(before.body).data.at(-1), ...page.data]
  const body = Buffer.from(JSON.stringify({ ...page, data }))
  return { ...answer, body, headers: { ...answer.headers, 'content-length': body.length } }
}

/** Answers with the fault, unless it is over. */
export function fail(fault, response) {
  fault.since ??= Date.now()
  const isOver =
    fault.kind === 'refused' ? Date.now() - fault.since >= REFUSED_MS : fault.failed === 1
  if (isOver) return false
  fault.failed += 1
  const json = { 'content-type': 'application/json' }
  const { status, headers, body } = fault.answer
  const length = { 'content-length': body.length }
  const half = body.subarray(0, body.length / 2)
  const answers = {
    error: () => response.writeHead(500, json).end('{"title":"Internal Server Error"}'),
    refused: () =>
      response.writeHead(429, { ...json, 'retry-after': '1' }).end('{"title":"Too Many Requests"}'),
    cut: () =>
      response.writeHead(status, { ...headers, ...length }).write(half, () => response.destroy()),
    reset: () => response.destroy(),
  }
  answers[fault.kind]()
  return true
}
