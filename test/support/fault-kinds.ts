import type { ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { sliceEnvelope } from '../../src/client/json/envelope.ts'
import type { Day } from '../../src/lib/days.ts'

/** A request to an analytics endpoint. */
export interface Ask {
  readonly endpoint: string
  readonly groupBy: string | null
  readonly first: Day
  readonly last: Day
  readonly days: number
  /** `/users` only: null on the first page. */
  readonly cursor: string | null
  /** Path and query. */
  readonly url: string
  /** 1 for the first request of this URL. */
  readonly nth: number
}

/** The platform's own response, whole. */
export interface Served {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** One request that a fault answers in its own way. */
interface Exchange {
  readonly ask: Ask
  readonly response: ServerResponse
  /** The platform's own response to this request, or to another. */
  readonly served: (url?: string) => Promise<Served>
  /** Milliseconds since the epoch, by the platform's clock. */
  readonly now: number
}

/** A wrong response of a platform, or of a proxy in front of it. */
export interface Fault {
  /** The requests that it can strike; by default any. */
  readonly where?: (ask: Ask) => boolean
  readonly answer: (exchange: Exchange) => void | Promise<void>
}

/** Sends a response whole. */
export function send(response: ServerResponse, { status, headers, body }: Served): void {
  response.writeHead(status, { ...headers, 'content-length': body.byteLength })
  response.end(body)
}

const HTML = '<!doctype html><html><body><h1>We will be back</h1></body></html>'
const html = (status: number): Fault => ({
  answer: ({ response }) => {
    response.writeHead(status, { 'content-type': 'text/html' }).end(HTML)
  },
})

const problem = (
  status: number,
  headers: (now: number) => Record<string, string> = () => ({}),
): Fault => ({
  answer: ({ response, now }) => {
    const body = { title: `Status ${status}`, detail: 'struck', status, requestId: 'req-struck' }
    const date = new Date(now).toUTCString()
    response.writeHead(status, { 'content-type': 'application/json', date, ...headers(now) })
    response.end(JSON.stringify(body))
  },
})

/** Acts on the connection once the first half of the platform's response was sent. */
const midway = (
  headers: (body: Buffer) => Record<string, number>,
  then: (response: ServerResponse, rest: Buffer) => void | Promise<void>,
): Fault => ({
  answer: async ({ response, served }) => {
    const answer = await served()
    response.writeHead(answer.status, { ...answer.headers, ...headers(answer.body) })
    const middle = Math.floor(answer.body.byteLength / 2)
    await new Promise((resolve) => response.write(answer.body.subarray(0, middle), resolve))
    await then(response, answer.body.subarray(middle))
  },
})
const whole = (body: Buffer): Record<string, number> => ({ 'content-length': body.byteLength })
const chunked = (): Record<string, number> => ({})

/** Writes until the other side closes the connection. */
async function writeOn(response: ServerResponse, chunk: Buffer, everyMs: number): Promise<void> {
  while (!response.destroyed) {
    response.write(chunk)
    await delay(everyMs)
  }
}

const changed = (
  change: (body: string, exchange: Exchange) => string | Buffer | Promise<string | Buffer>,
  headers: Record<string, string> = {},
): Fault['answer'] => {
  return async (exchange) => {
    const served = await exchange.served()
    const body = Buffer.from(await change(served.body.toString('utf8'), exchange))
    send(exchange.response, { ...served, headers: { ...served.headers, ...headers }, body })
  }
}

interface Envelope {
  readonly rows: readonly string[]
  readonly meta: Readonly<Record<string, unknown>>
}

function opened(body: string): Envelope {
  const { rows, rest } = sliceEnvelope(body)
  const { meta } = rest as { meta: Record<string, unknown> }
  return { rows: rows.map(({ text }) => text), meta }
}

const closed = ({ rows, meta }: Envelope): string =>
  `{"data":[${rows.join(',')}],"meta":${JSON.stringify(meta)}}`

/** Rows keep their bytes. */
const edited = (
  edit: (answer: Envelope, exchange: Exchange) => Envelope | Promise<Envelope>,
): Fault['answer'] => changed(async (body, exchange) => closed(await edit(opened(body), exchange)))

const rowsAre = (edit: (rows: readonly string[], ask: Ask) => readonly string[]): Fault => ({
  answer: edited(({ rows, meta }, { ask }) => ({ rows: edit(rows, ask), meta })),
})

const metaIs = (edit: (meta: Envelope['meta'], rows: Envelope['rows']) => object): Fault => ({
  where: isUsers,
  answer: edited(({ rows, meta }) => ({ rows, meta: { ...meta, ...edit(meta, rows) } })),
})

function isUsers(ask: Ask): boolean {
  return ask.endpoint === 'users'
}

/** The same request without the cursor, or for other days. */
function asking(url: string, change: Record<string, string | null>): string {
  const { pathname, searchParams } = new URL(url, 'http://platform')
  for (const [name, value] of Object.entries(change)) {
    if (value === null) searchParams.delete(name)
    else searchParams.set(name, value)
  }
  return `${pathname}?${searchParams.toString()}`
}

const firstPage = async ({ ask, served }: Exchange): Promise<Envelope> =>
  opened((await served(asking(ask.url, { cursor: null }))).body.toString('utf8'))

const userIdOf = (row: string | undefined): string =>
  /"user_id":"([^"]+)"/.exec(row ?? '')?.[1] ?? ''

const WIDE = 3
const isWide = (ask: Ask): boolean => ask.days > WIDE

const seconds = (ms: number): number => Math.floor(ms / 1000)

/** Every way to fail, by name. */
export const FAULTS = {
  // Errors of the server, or of a proxy.
  '400': problem(400),
  '500': problem(500),
  '502 with HTML': html(502),
  '503': problem(503),
  '504 with HTML': html(504),
  '404': problem(404),
  '401': problem(401),
  '403': problem(403),
  'a redirect': {
    answer: ({ response }) => {
      response.writeHead(302, { location: '/login' }).end()
    },
  },

  // Errors of the connection.
  'a reset before the headers': {
    answer: ({ response }) => {
      response.socket?.resetAndDestroy()
    },
  },
  'a close before the headers': {
    answer: ({ response }) => {
      response.socket?.end()
    },
  },
  'a reset in the body': midway(whole, (response) => {
    response.socket?.resetAndDestroy()
  }),
  'a body shorter than its length': midway(whole, (response) => {
    response.socket?.end()
  }),
  'chunks without an end': midway(chunked, (response) => {
    response.socket?.end()
  }),
  'JSON cut off, its length honoured': {
    answer: changed((body) => Buffer.from(body).subarray(0, Math.floor(body.length / 2))),
  },
  'no response at all': { answer: () => undefined },
  'a body that stalls': midway(whole, () => undefined),
  'a body that never ends': midway(chunked, (response) =>
    writeOn(response, Buffer.alloc(4096, ' '), 5),
  ),
  'a slow drip': midway(whole, async (response, rest) => {
    for (const byte of rest) {
      if (response.destroyed) return
      response.write(Buffer.of(byte))
      await delay(20)
    }
    response.end()
  }),
  'a response that is not HTTP': {
    answer: ({ response }) => {
      response.socket?.end('220 mail.example ESMTP\r\n')
    },
  },

  // Too many requests, with every style of header, and without one.
  '429, Retry-After in seconds': problem(429, () => ({ 'retry-after': '2' })),
  '429, Retry-After as a date': problem(429, (now) => ({
    'retry-after': new Date(now + 3_000).toUTCString(),
  })),
  '429, RateLimit as structured fields': problem(429, () => ({
    ratelimit: '"default";r=0;t=2',
    'ratelimit-policy': '"default";q=10;w=2',
  })),
  '429, RateLimit of draft 07': problem(429, () => ({
    ratelimit: 'limit=10, remaining=0, reset=2',
  })),
  '429, RateLimit-Reset': problem(429, () => ({
    'ratelimit-limit': '10',
    'ratelimit-remaining': '0',
    'ratelimit-reset': '2',
  })),
  '429, X-RateLimit with a delta': problem(429, () => ({
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': '2',
  })),
  '429, X-RateLimit with an epoch': problem(429, (now) => ({
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': String(seconds(now) + 2),
  })),
  '429, X-Rate-Limit': problem(429, (now) => ({
    'x-rate-limit-remaining': '0',
    'x-rate-limit-reset': String(seconds(now) + 2),
  })),
  '429 without a header': problem(429),
  '429 for two hours': problem(429, () => ({ 'retry-after': '7200' })),
  '503, Retry-After': problem(503, () => ({ 'retry-after': '2' })),

  // A successful status with an invalid body.
  'HTML with status 200': html(200),
  '204': {
    answer: ({ response }) => {
      response.writeHead(204).end()
    },
  },
  'an empty body with status 200': { answer: changed(() => '') },
  'gzip garbage': {
    answer: changed(() => 'this is no gzip', { 'content-encoding': 'gzip' }),
  },
  'gzip cut off': {
    answer: changed((body) => gzipSync(body).subarray(0, -12), { 'content-encoding': 'gzip' }),
  },
  'an encoding that was not requested': {
    answer: changed((body) => body, { 'content-encoding': 'x-secret' }),
  },
  'bytes that are not UTF-8': {
    answer: changed((body) => Buffer.from(body.replaceAll('"date"', '"dat\u00e9"'), 'latin1')),
  },
  'data missing': { answer: changed((body) => body.replace('"data":', '"rows":')) },
  'data null': {
    answer: changed((body) => JSON.stringify({ data: null, meta: opened(body).meta })),
  },
  'data an object': {
    answer: changed((body) => JSON.stringify({ data: {}, meta: opened(body).meta })),
  },
  'an array as the answer': { answer: changed((body) => `[${opened(body).rows.join(',')}]`) },
  'null as the answer': { answer: changed(() => 'null') },
  'two responses in one': { answer: changed((body) => body + body) },
  'a row that is a number': rowsAre((rows) => [...rows, '17']),
  'a row that is null': rowsAre((rows) => ['null', ...rows]),
  'a row that is a list': rowsAre((rows) => [...rows, '[]']),
  'a row without a date': rowsAre((rows) => [...rows, '{"user_id":"x"}']),
  'a row of another day': rowsAre((rows) => [...rows, '{"user_id":"x","date":"2020-02-02"}']),
  'an error with status 200': {
    answer: changed(() => '{"title":"Internal Server Error","status":500}'),
  },

  // Unusual, but correct.
  'JSON with the content type of HTML': {
    answer: changed((body) => body, { 'content-type': 'text/html' }),
  },
  gzip: { answer: changed((body) => gzipSync(body), { 'content-encoding': 'gzip' }) },

  // Ranges.
  '400 for a wide range': { ...problem(400), where: isWide },
  '413 for a wide range': { ...problem(413), where: isWide },
  'a range cut to its last days': {
    where: isWide,
    answer: async ({ ask, served, response }) => {
      send(response, await served(asking(ask.url, { startDate: ask.last })))
    },
  },
  'the response of another day': {
    answer: async ({ ask, served, response }) => {
      const day = ask.first === EMPTY_DAY ? '2026-01-15' : EMPTY_DAY
      send(response, await served(asking(ask.url, { startDate: day, endDate: day, cursor: null })))
    },
  },

  // Pages.
  'the rows of the first page again': {
    where: (ask) => isUsers(ask) && ask.cursor !== null,
    answer: edited(async ({ rows, meta }, exchange) => ({
      rows: [...(await firstPage(exchange)).rows, ...rows],
      meta,
    })),
  },
  'a user who moves to a later page': {
    where: isUsers,
    answer: edited(async ({ rows, meta }, exchange) => {
      const before = await firstPage(exchange)
      const [mover = ''] = before.rows
      if (exchange.ask.cursor !== null) return { rows: [mover, ...rows], meta }
      if (meta['has_more'] !== true) return { rows, meta }
      const stale = mover.replace(/"messages":\d+/, '"messages":99999')
      return { rows: [stale, ...rows.slice(1)], meta }
    }),
  },
  'a cursor that goes back': {
    where: (ask) => isUsers(ask) && ask.cursor !== null,
    answer: edited((_, exchange) => firstPage(exchange)),
  },
  'a cursor that does not move': {
    where: (ask) => isUsers(ask) && ask.cursor !== null,
    answer: edited(({ rows, meta }, { ask }) => ({
      rows,
      meta: { ...meta, has_more: true, next_cursor: ask.cursor },
    })),
  },
  'has_more without a cursor': metaIs(() => ({ has_more: true, next_cursor: null })),
  'has_more on the last page': metaIs((meta, rows) =>
    meta['has_more'] === true || rows.length === 0
      ? meta
      : { has_more: true, next_cursor: userIdOf(rows.at(-1)) },
  ),
  'no has_more before the last page': {
    ...metaIs(() => ({ has_more: false, next_cursor: null })),
    where: (ask) => isUsers(ask) && ask.cursor === null,
  },
  'a user who is on no page': {
    where: (ask) => isUsers(ask) && ask.cursor !== null,
    answer: edited(({ rows, meta }) => ({ rows: rows.slice(1), meta })),
  },
  'has_more as text': metaIs(({ has_more: more }) => ({ has_more: String(more) })),
  'no has_more': metaIs(() => ({ has_more: undefined })),
  'no meta': {
    where: isUsers,
    answer: changed((body) => `{"data":[${opened(body).rows.join(',')}]}`),
  },
} as const satisfies Record<string, Fault>

export type FaultKind = keyof typeof FAULTS

/** A day on which the stand-in organisation has no rows at all. */
const EMPTY_DAY = '2026-01-19'

/** Wrong responses that cannot be detected: only the next recheck finds them. */
export const UNDETECTABLE = [
  'no has_more before the last page',
  'a user who is on no page',
] as const satisfies readonly FaultKind[]

const isDetectable = (kind: FaultKind): boolean => !UNDETECTABLE.some((each) => each === kind)

/** Every fault that can be detected from the response, or from its absence. */
export const KINDS: readonly FaultKind[] = (Object.keys(FAULTS) as FaultKind[]).filter(isDetectable)
