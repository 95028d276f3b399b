import { UsageError } from '../../lib/errors.ts'
import { pipeline, type Readable, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import type { Dispatcher, Pool } from 'undici'
import type { HttpHead, HttpRequest, HttpResponse, World } from '../../lib/world.ts'
import { BodyTooLargeError, TransportError } from '../errors.ts'
import { setTimeout as delay } from 'node:timers/promises'

type Environment = Readonly<Record<string, string | undefined>>

/** The proxy of https requests; plain http, which is for loopback alone, never uses a proxy. */
export interface ProxyOptions {
  /** An address, which may hold credentials; empty: no proxy. */
  readonly httpsProxy: string
  /** Hosts that are reached without the proxy, as NO_PROXY lists them. */
  readonly noProxy: string
}

/**
 * Reads `HTTPS_PROXY` and `NO_PROXY`, in lower case first, as other programs do. A
 * request goes through a tunnel (CONNECT), so that the proxy sees neither key nor response.
 *
 * @throws UsageError for a proxy that is not an address; the message leaves it out, because it may
 *   hold a password. Also for an environment that turns the check of certificates off.
 */
export function proxyOf(environment: Environment = process.env): ProxyOptions {
  if (environment['NODE_TLS_REJECT_UNAUTHORIZED'] === '0') {
    throw new UsageError(
      'NODE_TLS_REJECT_UNAUTHORIZED=0 turns off the check of certificates, so the key could be intercepted: unset it; to trust your own certificate authority, set NODE_EXTRA_CA_CERTS',
    )
  }
  const read = (name: string): string =>
    (environment[name.toLowerCase()] ?? environment[name] ?? '').trim()
  return { httpsProxy: addressOfProxy(read('HTTPS_PROXY')), noProxy: read('NO_PROXY') }
}

function addressOfProxy(text: string): string {
  if (text === '') return ''
  const address = text.includes('://') ? text : `http://${text}`
  try {
    loginOf(address)
    if (/^https?:\/\//i.test(address)) return address
  } catch {
    // not an address, or not a login that can be decoded
  }
  throw new UsageError('HTTPS_PROXY is not the address of a proxy', {
    hint: 'For example http://user:password@proxy.example.com:3128; http and https are supported, and a % in the password is written as %25.',
  })
}

/**
 * The login in the address of a proxy, which undici ignores for a user without a password.
 *
 * @throws TypeError for what is no address, URIError for a login that cannot be decoded.
 */
function loginOf(address: string): { readonly token?: string } {
  const { username, password } = new URL(address)
  if (username === '' && password === '') return {}
  const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { token: `Basic ${Buffer.from(login).toString('base64')}` }
}

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}

const NO_PROXY: ProxyOptions = { httpsProxy: '', noProxy: '' }

/** The highest number of encodings of one body: each multiplies what a few bytes expand to. */
const MOST_ENCODINGS = 3

/** A response with this status has no body, even if headers or further bytes say otherwise. */
const NO_CONTENT = 204

/**
 * The World's `fetch` over undici: one keep-alive dispatcher, no redirects, a
 * time limit that covers the body, and a size limit that holds before and
 * after decompression. It, and reading the body, reject with TransportError or BodyTooLargeError.
 */
export function createHttp(proxy: ProxyOptions = NO_PROXY): {
  fetch: World['fetch']
  close: () => Promise<void>
} {
  let agent: Promise<Dispatcher> | undefined
  return {
    fetch: async (request) => exchange(await (agent ??= agentOf(proxy)), request),
    close: async () => (await agent)?.close(),
  }
}

/** Loads undici, which takes a sixth of a second, with the first request: most commands send none. */
async function agentOf(proxy: ProxyOptions): Promise<Dispatcher> {
  const { EnvHttpProxyAgent, Pool } = await import('undici')
  return new EnvHttpProxyAgent({
    keepAliveTimeout: 10_000,
    connect: { timeout: CONNECT_MS },
    clientFactory: (url, options) =>
      tunnelsTo(new Pool(url, { ...options, headersTimeout: CONNECT_MS })),
    ...(proxy.httpsProxy === '' ? {} : loginOf(proxy.httpsProxy)),
    httpProxy: '', // plain http is for loopback addresses: a proxy would read the key
    ...proxy,
  })
}

/** The time limit of a connection without a proxy, and of a proxy's response to CONNECT. */
const CONNECT_MS = 15_000

/**
 * The connections to a proxy, each for one tunnel. If a tunnel fails, the requests that wait for it
 * fail: undici connects again without end as long as the error has the code of a closed socket.
 */
function tunnelsTo(pool: Pool): Dispatcher {
  const connect = pool.connect.bind(pool)
  return Object.assign(pool, {
    connect: (tunnel: Dispatcher.ConnectOptions) =>
      connect(tunnel).catch((cause: unknown) => {
        throw new Error(`no tunnel through the proxy: ${reasonOf(cause)}`, { cause })
      }),
  })
}

/** A timer of Node.js ends at once beyond this time, which is 24 days. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** The timers of undici may end about half a second early; the exact one of a request must be the first. */
const COARSE_MS = 1000

async function exchange(agent: Dispatcher, request: HttpRequest): Promise<HttpResponse> {
  const timeoutMs = Math.min(request.timeoutMs, LONGEST_TIMER_MS)
  const { signal, release } = endOf(request.signal, timeoutMs)
  const failureOf = (cause: unknown): unknown => {
    if (request.signal.aborted) return request.signal.reason
    if (cause instanceof BodyTooLargeError) return cause
    const late = `no complete response within ${timeoutMs} ms`
    const what = `${request.method} ${request.url}: ${signal.aborted ? late : reasonOf(cause)}`
    return new TransportError(what, signal.aborted, { cause })
  }
  try {
    const { origin, pathname, search } = new URL(request.url)
    const response = await agent.request({
      origin,
      path: `${pathname}${search}`,
      method: request.method,
      // no deflate: some servers send it without the header of zlib
      headers: { 'accept-encoding': 'gzip, br', ...request.headers },
      body: request.body ?? null,
      signal,
      headersTimeout: timeoutMs + COARSE_MS,
      bodyTimeout: timeoutMs + COARSE_MS,
      // bytes after a response without a body would be read as the response to the next request
      reset: request.method !== 'GET',
    })
    const head = { status: response.statusCode, headers: flatten(response.headers) }
    const body = response.body.on('error', () => undefined) // it may also fail while it is not read
    body.once('close', release)
    return { ...head, body: piecesOf(body, head, request, failureOf) }
  } catch (error) {
    release()
    throw failureOf(error)
  }
}

/**
 * A signal that aborts with another one or after a time, until it is released. `AbortSignal.any`
 * would keep up to 2 kB of each request until the time is over.
 */
function endOf(
  other: AbortSignal,
  timeoutMs: number,
): { signal: AbortSignal; release: () => void } {
  const end = new AbortController()
  const hangUp = (): void => {
    end.abort(other.reason)
  }
  if (other.aborted) hangUp()
  other.addEventListener('abort', hangUp)
  const timer = setTimeout(() => {
    end.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'))
  }, timeoutMs).unref()
  return {
    signal: end.signal,
    release: () => {
      other.removeEventListener('abort', hangUp)
      clearTimeout(timer)
    },
  }
}

async function* piecesOf(
  body: Readable,
  { status, headers }: HttpHead,
  request: HttpRequest,
  failureOf: (error: unknown) => unknown,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    if (status !== NO_CONTENT) yield* decoded(body, encodingsOf(headers), request)
  } catch (error) {
    throw failureOf(error)
  } finally {
    body.destroy() // closes the connection of a body that was not read to its end
  }
}

async function* decoded(
  body: AsyncIterable<Uint8Array>,
  encodings: readonly string[],
  request: HttpRequest,
): AsyncGenerator<Uint8Array, void, undefined> {
  const raw = limited(body, request)
  if (encodings.length === 0) {
    yield* raw
    return
  }
  // an empty body is not compressed, whatever the header says
  const first = await raw.next()
  if (first.done === true) return
  const encoded = async function* () {
    yield first.value
    yield* raw
  }
  const decoders = encodings.toReversed().map(decoderOf) // the last one was applied last
  const text = decoders.reduce<AsyncIterable<Uint8Array>>(
    // reading the last decoder throws the error of any
    (source, decoder) => pipeline(source, decoder, () => undefined),
    encoded(),
  )
  yield* limited(text, request)
}

/** The encodings of a body, in the order in which they were applied (RFC 9110, section 8.4). */
function encodingsOf(headers: Readonly<Record<string, string>>): string[] {
  const encodings = (headers['content-encoding'] ?? '')
    .split(',')
    .map((each) => each.trim().toLowerCase())
    .filter((each) => each !== '' && each !== 'identity')
  if (encodings.length <= MOST_ENCODINGS) return encodings
  const most = `at most ${MOST_ENCODINGS} are decoded`
  throw new Error(`${encodings.length} content-encodings, but ${most}`)
}

function decoderOf(encoding: string): Transform {
  const createDecoder = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding] : undefined
  if (createDecoder === undefined) throw new Error(`unknown content-encoding '${encoding}'`)
  return createDecoder()
}

async function* limited(
  pieces: AsyncIterable<Uint8Array>,
  { url, maxBytes }: HttpRequest,
): AsyncGenerator<Uint8Array, void, undefined> {
  let size = 0
  for await (const piece of pieces) {
    size += piece.byteLength
    if (size > maxBytes) throw new BodyTooLargeError(url, maxBytes)
    yield piece
  }
}

function flatten(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string> {
  const flat: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined)
      flat[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value
  }
  return flat
}

/** undici wraps the socket's error; the innermost message is the useful one. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0])
  const inner = error.cause === undefined ? '' : reasonOf(error.cause)
  const reason = error.message || inner || error.name
  const isUntrusted = 'code' in error && UNTRUSTED.has(String(error.code))
  return isUntrusted ? `${reason}; to trust your own authority, set NODE_EXTRA_CA_CERTS` : reason
}

/** Errors of a certificate by an authority that Node.js does not know. */
const UNTRUSTED: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

export type Ends = Pick<World, 'emit' | 'signal' | 'hangUp'>

/**
 * A clock that begins with the time of this machine, in milliseconds since the epoch. Setting the
 * machine's clock later changes no wait and no time limit.
 */
export function steadyClock(): () => number {
  const start = Date.now() - performance.now()
  return () => Math.floor(start + performance.now())
}

/** A World with the real clock, chance and network; `close` ends its connections. */
export function createNodeWorld(
  ends: Ends,
  now = steadyClock(),
  proxy?: ProxyOptions,
): { readonly world: World; readonly close: () => Promise<void> } {
  const http = createHttp(proxy)
  const world: World = {
    ...ends,
    fetch: http.fetch,
    now,
    sleep: async (ms, signal) => {
      let left = ms
      do {
        const timer = delay(Math.min(left, LONGEST_TIMER_MS), undefined, { signal })
        await timer.catch((error: unknown) => {
          throw signal?.aborted === true ? signal.reason : error
        })
        left -= LONGEST_TIMER_MS
      } while (left > 0)
    },
    random: () => Math.random(),
  }
  return { world, close: http.close }
}
