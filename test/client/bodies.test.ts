import { createServer, type Socket } from 'node:net'
import { once } from 'node:events'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { BodyError, createHttp, ApiClient, TransportError } from '../../src/client/index.ts'
import { DeferredError } from '../../src/lib/errors.ts'
import { wholeBody, type Body, type HttpRequest } from '../../src/lib/world.ts'
import { sendJson, testServer, testWorld, type Handler } from '../support/helpers.ts'
import { failureOf, onServer } from './support.ts'

const RANGE = { startDate: '2026-03-01', endDate: '2026-03-02' }
const BODY = '{"data":[{"date":"2026-03-01"}],"meta":{}}'
const GZIPPED = gzipSync(BODY)

const PAGE = Buffer.from(`<html>${'<p>maintenance</p>'.repeat(70_000)}</html>`)

function requestOf(url: string, more: Partial<HttpRequest> = {}): HttpRequest {
  const { signal } = new AbortController()
  const bounds = { timeoutMs: 5_000, maxBytes: 8 * 1024 * 1024, signal }
  return { method: 'GET', url, headers: {}, ...bounds, ...more }
}

/** Resolves when the connection has ended, in whatever way. */
function closing(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.once('close', () => {
      resolve()
    })
  })
}

/** Sends the body and holds the connection open, so that only the client can end it. */
function open(encoding: string, body: Uint8Array): Handler {
  return (_, response) => {
    response.writeHead(200, { 'content-encoding': encoding })
    response.write(body)
  }
}

describe('a body that is abandoned', () => {
  const bomb = (): Buffer => gzipSync(Buffer.alloc(64 * 1024 * 1024))
  const first = async (body: Body): Promise<void> => {
    for await (const piece of body) if (piece.byteLength > 0) return
  }
  const cases: readonly [string, Handler, (body: Body) => Promise<unknown>][] = [
    ['a page in gzip', open('gzip', gzipSync(PAGE)), first],
    ['a page', open('identity', PAGE), first],
    ['a broken gzip', open('gzip', Buffer.from('this is no gzip, however long')), wholeBody],
    ['a gzip that breaks', open('gzip', Buffer.concat([GZIPPED.subarray(0, 20), PAGE])), wholeBody],
    ['zstd', open('zstd', Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 0, 0, 0])), wholeBody],
    ['an unknown encoding', open('constructor', Buffer.from(BODY)), wholeBody],
    ['many encodings', open('gzip, gzip, gzip, gzip', GZIPPED), wholeBody],
    ['64 MB in 64 kB', open('gzip', bomb()), wholeBody],
    ['64 MB in 64 kB, twice', open('gzip, gzip', gzipSync(bomb())), wholeBody],
    ['a brotli bomb', open('br', brotliCompressSync(Buffer.alloc(64 * 1024 * 1024))), wholeBody],
  ]

  it.each(cases)('ends its connection at once: %s', async (_, handler, read) => {
    const sockets: Socket[] = []
    const { url } = await testServer((request, response, count) => {
      sockets.push(request.socket)
      handler(request, response, count)
    })
    const http = createHttp()
    // longer than the test waits: the time limit of the request ends its connection, too
    const { body } = await http.fetch(requestOf(url, { timeoutMs: 60_000 }))
    await read(body).catch((error: unknown) => error)
    const areClosed = () => sockets.map(({ destroyed }) => destroyed)
    await expect.poll(areClosed, { timeout: 10_000 }).toEqual([true])
    await http.close()
  })
})

describe('a compressed body', () => {
  it('is requested as gzip or brotli, because each of these names stands for one format', async () => {
    const asked: unknown[] = []
    const { client } = await onServer((request, response) => {
      asked.push(request.headers['accept-encoding'])
      response.end(BODY)
    })
    await client.tools(RANGE)
    expect(asked).toEqual(['gzip, br'])
  })

  const twice = (body: string): Buffer => gzipSync(gzipSync(body))
  it.each<[string, string, Uint8Array]>([
    ['x-gzip', 'x-gzip', GZIPPED],
    ['gzip twice', 'gzip, gzip', twice(BODY)],
    ['deflate, then brotli', 'deflate,br', brotliCompressSync(deflateSync(BODY))],
    ['identity and gzip', 'identity, gzip', GZIPPED],
    [
      'two gzip members',
      'gzip',
      Buffer.concat([gzipSync(BODY.slice(0, 9)), gzipSync(BODY.slice(9))]),
    ],
    ['zeros after its end', 'gzip', Buffer.concat([GZIPPED, Buffer.alloc(9)])],
  ])('is read: %s', async (_, encoding, body) => {
    const { client } = await onServer((_request, response) => {
      response.writeHead(200, { 'content-encoding': encoding }).end(body)
    })
    expect(await client.tools(RANGE)).toEqual([{ date: '2026-03-01' }])
  })

  it.each(['gzip', 'gzip, gzip', 'br', 'zstd'])(
    'that is empty is an empty body: %s',
    async (encoding) => {
      const { client, requests } = await onServer((_request, response) => {
        response.writeHead(200, { 'content-encoding': encoding }).end()
      })
      expect(await client.computers.refresh('c')).toEqual({})
      expect(await failureOf(client.tools(RANGE))).toBeInstanceOf(BodyError)
      expect(requests).toHaveLength(7)
    },
  )

  it.each([
    ['gzip', GZIPPED.subarray(0, -9)],
    ['gzip', Buffer.concat([GZIPPED, Buffer.from('garbage')])],
    ['br', brotliCompressSync(BODY).subarray(0, -3)],
    ['gzip, gzip', twice(BODY).subarray(0, -9)],
  ])(
    'that is cut off or followed by other bytes is an error, and the request is retried: %s',
    async (encoding, body) => {
      const { client, requests } = await onServer((_request, response, count) => {
        if (count > 1) sendJson(response, 200, { data: [], meta: {} })
        else response.writeHead(200, { 'content-encoding': encoding }).end(body)
      })
      expect(await client.tools(RANGE)).toEqual([])
      expect(requests).toHaveLength(2)
    },
  )
})

describe('a request in progress at the deadline', () => {
  const drip = (write: () => unknown): void => {
    const timer = setInterval(write, 20)
    onTestFinished(() => {
      clearInterval(timer)
    })
  }
  const slow: readonly [string, Handler][] = [
    ['no response', () => undefined],
    [
      'a body that arrives byte by byte',
      (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' })
        drip(() => response.write(' '))
      },
    ],
    [
      'a compressed body that arrives byte by byte',
      (_, response) => {
        response.writeHead(200, { 'content-encoding': 'gzip' })
        let at = 0
        drip(() => response.write(GZIPPED.subarray(at, (at += 1))))
      },
    ],
    [
      'headers that arrive byte by byte',
      (request) => {
        request.socket.write('HTTP/1.1 200 OK\r\nx-slow: ')
        drip(() => request.socket.write('x'))
      },
    ],
  ]

  it.each(slow)('is ended, and the run is deferred: %s', async (_, handler) => {
    let closed: Promise<unknown> | undefined
    const { url } = await testServer((request, response, count) => {
      closed = closing(request.socket)
      handler(request, response, count)
    })
    const world = testWorld()
    const bounds = { rate: 1000, concurrency: 4, deadline: world.now() + 300 }
    const client = new ApiClient({ baseUrl: url, credential: 'k', ...bounds }, world)
    expect(await failureOf(client.tools(RANGE))).toBeInstanceOf(DeferredError)
    await closed
    const events = world.events.map(({ type }) => type)
    expect(events).not.toContain('request.retried')
  })
})

/** A server that writes the given bytes, one response per request, and never closes a connection. */
async function rawServer(answers: readonly string[]) {
  const requests: string[] = []
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => undefined)
    socket.on('data', (bytes) => {
      const [line = ''] = bytes.toString().split('\r\n', 1)
      const [head = '', ...late] = (answers[requests.length] ?? '').split('|')
      requests.push(line)
      socket.write(head)
      for (const part of late) setImmediate(() => socket.write(part))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return { url: `http://127.0.0.1:${address.port}`, requests }
}

describe('a response with status 204', () => {
  const next = 'HTTP/1.1 200 OK\r\ncontent-length: 17\r\n\r\n{"configured": 1}'
  it.each([
    ['without a body', 'HTTP/1.1 204 No Content\r\n\r\n'],
    ['with an empty object', 'HTTP/1.1 204 No Content\r\ncontent-length: 2\r\n\r\n{}'],
    [
      'with an empty object that arrives late',
      'HTTP/1.1 204 No Content\r\ncontent-length: 2\r\n\r\n|{}',
    ],
    ['with a length and no body', 'HTTP/1.1 204 No Content\r\ncontent-length: 2\r\n\r\n'],
    ['with a length of zero', 'HTTP/1.1 204 No Content\r\ncontent-length: 0\r\n\r\n'],
    ['with a body without a length', 'HTTP/1.1 204 No Content\r\n\r\n{}'],
    [
      'with chunks',
      'HTTP/1.1 204 No Content\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
    ],
    [
      'with chunks that arrive late',
      'HTTP/1.1 204 No Content\r\ntransfer-encoding: chunked\r\n\r\n|2\r\n{}\r\n0\r\n\r\n',
    ],
    ['in an encoding', 'HTTP/1.1 204 No Content\r\ncontent-encoding: gzip\r\n\r\n'],
  ])('%s is success, and the next request gets its own response', async (_, answer) => {
    const { url, requests } = await rawServer([answer, next, answer, answer, next])
    const bounds = { rate: 1000, concurrency: 1, deadline: Infinity, timeoutMs: 5_000 }
    const client = new ApiClient({ baseUrl: url, credential: 'k', ...bounds }, testWorld())
    await client.computers.delete('a')
    expect(await client.computers.refresh('b')).toEqual({ configured: 1 })
    await client.computers.delete('c')
    await client.computers.delete('d')
    expect(await client.computers.get('e')).toEqual({ configured: 1 })
    expect(requests.map((line) => line.split(' ', 1)[0])).toEqual([
      'DELETE',
      'POST',
      'DELETE',
      'DELETE',
      'GET',
    ])
  })

  it('is not assumed when the connection ends without a response', async () => {
    const { client } = await onServer((request) => void request.socket.destroy())
    const failure = await failureOf(client.computers.delete('a'))
    expect(failure.cause).toBeInstanceOf(TransportError)
  })
})
