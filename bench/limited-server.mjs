// Rate-limited servers in their own process. A message `{ rate, burst, style }` starts one and
// returns its address; the message 'counts' returns the numbers of refusals.
import { createServer } from 'node:http'

const LATENCY_MS = 5
const BODY = '{"data":[],"meta":{"org_id":"org-1","has_more":false}}'
const servers = []

process.on('message', (message) => {
  if (message === 'counts') process.send(servers.map(({ counts }) => counts))
  else start(message)
})
process.on('disconnect', () => process.exit())

function start({ rate, burst, style }) {
  const counts = { served: 0, refused: 0 }
  const take = bucket(rate, burst)
  const server = createServer({ keepAliveTimeout: 60_000 }, (_, response) => {
    const state = take(performance.now())
    counts[state.isAllowed ? 'served' : 'refused'] += 1
    const headers = { 'content-type': 'application/json', ...fields(style, state) }
    setTimeout(() => {
      response.writeHead(state.isAllowed ? 200 : 429, headers).end(state.isAllowed ? BODY : '{}')
    }, LATENCY_MS)
  })
  servers.push({ counts })
  server.listen(0, '127.0.0.1', () => {
    process.send({ url: `http://127.0.0.1:${server.address().port}`, index: servers.length - 1 })
  })
}

/** A bucket of `burst` tokens, refilled `rate` times per second; a refusal takes none. */
function bucket(rate, burst) {
  let tokens = burst
  let at = performance.now()
  return (now) => {
    tokens = Math.min(burst, tokens + ((now - at) * rate) / 1000)
    at = now
    const isAllowed = tokens >= 1
    if (isAllowed) tokens -= 1
    return {
      isAllowed,
      burst,
      remaining: Math.floor(tokens),
      resetSeconds: (burst - tokens) / rate,
      waitSeconds: Math.max(0, 1 - tokens) / rate,
    }
  }
}

function fields(style, { isAllowed, burst, remaining, resetSeconds, waitSeconds }) {
  const reset = Math.ceil(resetSeconds)
  switch (style) {
    case 'none':
      return {}
    case 'Retry-After':
      return isAllowed ? {} : { 'retry-after': Math.ceil(waitSeconds) }
    case 'RateLimit':
      return {
        'ratelimit-policy': `"default";q=${burst};w=${reset}`,
        ratelimit: `"default";r=${remaining};t=${reset}`,
      }
    case 'RateLimit, draft 07':
      return { ratelimit: `limit=${burst}, remaining=${remaining}, reset=${reset}` }
    default:
      return {
        'x-ratelimit-limit': burst,
        'x-ratelimit-remaining': remaining,
        'x-ratelimit-reset':
          style === 'X-RateLimit, epoch' ? Math.ceil(Date.now() / 1000 + resetSeconds) : reset,
      }
  }
}
