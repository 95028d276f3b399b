import { pipeline, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { Agent, request as send } from 'undici'
import type { BodyTaker, HttpRequest, HttpResponse, World } from '../core/world.ts'
import { BodyTooLargeError, TransportError } from './errors.ts'

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}

/**
 * The World's `fetch` over undici: one keep-alive dispatcher, no redirects, a
 * time limit that covers the body, and a size limit that holds before and
 * after decompression. Rejects with TransportError or BodyTooLargeError.
 */
export function createHttp(): { fetch: World['fetch']; close: () => Promise<void> } {
  const agent = new Agent({ keepAliveTimeout: 10_000, connect: { timeout: 15_000 } })
  return {
    fetch: (request) => exchange(agent, request),
    close: () => agent.close(),
  }
}

async function exchange(agent: Agent, request: HttpRequest): Promise<HttpResponse> {
  const timeout = AbortSignal.timeout(request.timeoutMs)
  const signal = AbortSignal.any([request.signal, timeout])
  try {
    const answer = await send(request.url, {
      dispatcher: agent,
      method: request.method,
      headers: { 'accept-encoding': 'gzip, deflate, br', ...request.headers },
      ...(request.body === undefined ? {} : { body: request.body }),
      signal,
      headersTimeout: request.timeoutMs,
      bodyTimeout: request.timeoutMs,
    })
    const head = { status: answer.statusCode, headers: flatten(answer.headers) }
    const pieces = decoded(answer.body, head.headers, request)
    const take = request.takerFor?.(head) ?? null
    if (take === null) return { ...head, body: await collect(pieces) }
    await handOver(pieces, take)
    return { ...head, body: new Uint8Array() }
  } catch (error) {
    if (request.signal.aborted) throw request.signal.reason
    if (error instanceof BodyTooLargeError) throw error
    const what = timeout.aborted
      ? `no whole answer within ${request.timeoutMs} ms`
      : reasonOf(error)
    throw new TransportError(`${request.method} ${request.url}: ${what}`, timeout.aborted, {
      cause: error,
    })
  }
}

async function collect(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = []
  for await (const piece of pieces) all.push(piece)
  return all.length === 1 && all[0] !== undefined ? all[0] : Buffer.concat(all)
}

async function handOver(pieces: AsyncIterable<Uint8Array>, take: BodyTaker): Promise<void> {
  for await (const piece of pieces) if (!(await take(piece))) return
}

async function* decoded(
  body: AsyncIterable<Uint8Array>,
  headers: Readonly<Record<string, string>>,
  request: HttpRequest,
): AsyncGenerator<Uint8Array, void, undefined> {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  const raw = limited(body, request)
  if (encoding === 'identity' || encoding === '') {
    yield* raw
    return
  }
  // an empty body is no compressed one, whatever it is called
  const first = await raw.next()
  if (first.done === true) return
  const createDecoder = DECODERS[encoding]
  if (createDecoder === undefined) throw new Error(`unknown content-encoding '${encoding}'`)
  const decoder = pipeline(
    async function* () {
      yield first.value
      yield* raw
    },
    createDecoder(),
    () => undefined, // what goes wrong is thrown where the decoder is read
  )
  yield* limited(decoder, request)
}

/** @throws BodyTooLargeError */
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

/** undici wraps the socket's error; the innermost message is the one that tells. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0])
  const inner = error.cause === undefined ? '' : reasonOf(error.cause)
  return error.message || inner || error.name
}
