import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate } from 'node:zlib'
import { Agent, request as send } from 'undici'
import type { HttpRequest, HttpResponse, World } from '../core/world.ts'
import { BodyTooLargeError, TransportError } from './errors.ts'

const decoders: Readonly<Record<string, (body: Uint8Array, limit: number) => Promise<Uint8Array>>> =
  {
    gzip: (body, limit) => promisify(gunzip)(body, { maxOutputLength: limit }),
    deflate: (body, limit) => promisify(inflate)(body, { maxOutputLength: limit }),
    br: (body, limit) => promisify(brotliDecompress)(body, { maxOutputLength: limit }),
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
    const headers = flatten(answer.headers)
    const body = await collect(answer.body, request)
    return { status: answer.statusCode, headers, body: await decode(body, headers, request) }
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

async function collect(
  body: AsyncIterable<Uint8Array> & { destroy: () => unknown },
  request: HttpRequest,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.byteLength
    if (size > request.maxBytes) {
      body.destroy()
      throw new BodyTooLargeError(request.url, request.maxBytes)
    }
    chunks.push(chunk)
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, size)
}

async function decode(
  body: Uint8Array,
  headers: Readonly<Record<string, string>>,
  request: HttpRequest,
): Promise<Uint8Array> {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  if (encoding === 'identity' || encoding === '' || body.byteLength === 0) return body
  const decoder = decoders[encoding]
  if (decoder === undefined) throw new Error(`unknown content-encoding '${encoding}'`)
  try {
    return await decoder(body, request.maxBytes)
  } catch (error) {
    if (error instanceof RangeError) throw new BodyTooLargeError(request.url, request.maxBytes)
    throw error
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
