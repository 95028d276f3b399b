import { describe, expect, it } from 'vitest'
import {
  ApiError,
  BodyError,
  BodyTooLargeError,
  RefusedError,
  TransportError,
  ApiClient,
} from '../../src/client/index.ts'
import { Transport } from '../../src/client/http/transport.ts'
import type { Day } from '../../src/lib/days.ts'
import { DeferredError } from '../../src/lib/errors.ts'
import type { HttpRequest } from '../../src/lib/world.ts'
import { wordsOf } from './support.ts'
import {
  sendJson,
  testServer,
  testWorld,
  type Handler,
  type TestWorld,
} from '../support/helpers.ts'

const RANGE = { startDate: '2026-03-01', endDate: '2026-03-02' }
const EMPTY = { data: [], meta: { org_id: 'org-1' } }

async function clientOf(handler: Handler, world: TestWorld = testWorld(), deadlineMs = 3_600_000) {
  const server = await testServer(handler)
  const client = new ApiClient(
    {
      baseUrl: server.url,
      credential: 'key-1',
      rate: 1000,
      concurrency: 4,
      deadline: world.now() + deadlineMs,
      timeoutMs: 1_500,
    },
    world,
  )
  return { client, world, requests: server.requests }
}

describe('the client', () => {
  it('sends the credential and both days, and nothing else', async () => {
    let seen: string | undefined
    const { client, requests } = await clientOf((request, response) => {
      seen = request.headers.authorization
      sendJson(response, 200, EMPTY)
    })
    await client.tokens(RANGE)
    expect(seen).toBe('Bearer key-1')
    expect(requests).toEqual([
      'GET /api/v1/analytics/tokens?startDate=2026-03-01&endDate=2026-03-02',
    ])
  })

  it('returns typed rows', async () => {
    const { client } = await clientOf((_, response) => {
      sendJson(response, 200, { data: [{ date: '2026-03-01', daily_active_users: 3 }], meta: {} })
    })
    const [day] = await client.activity(RANGE)
    expect(day?.daily_active_users).toBe(3)
  })

  it.each([408, 425, 429, 500, 502, 503, 504])('retries after a %i', async (status) => {
    const { client, requests } = await clientOf((_, response, count) => {
      if (count === 1) sendJson(response, status, { title: 'no' })
      else sendJson(response, 200, EMPTY)
    })
    await client.tools(RANGE)
    expect(requests).toHaveLength(2)
  })

  it.each<[string, Handler]>([
    ['a body that is cut off', (_, response) => void response.end('{"data":[{"date":"2026-03')],
    [
      'an HTML page with status 200',
      (_, response) => void response.end('<html>maintenance</html>'),
    ],
    ['a connection reset', (request) => void request.socket.destroy()],
    ['a body that never ends', (_, response) => void response.write('{"data":[')],
    ['a timeout', () => undefined],
  ])('retries after %s', async (_, fault) => {
    const { client, requests } = await clientOf((request, response, count) => {
      if (count === 1) fault(request, response, count)
      else sendJson(response, 200, EMPTY)
    })
    await client.tools(RANGE)
    expect(requests).toHaveLength(2)
  })

  it.each([400, 404, 409, 418])(
    'does not retry after a %i, and shows the Problem body',
    async (status) => {
      const { client, requests } = await clientOf((_, response) => {
        sendJson(response, status, { title: 'No', detail: 'because', requestId: 'req-9' })
      })
      const failure = await client.tools(RANGE).catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(ApiError)
      expect(String(failure)).toContain(`${status} No: because (request req-9)`)
      expect(requests).toHaveLength(1)
    },
  )

  it.each([401, 403])('treats a %i as final for the credential', async (status) => {
    const { client, requests } = await clientOf((_, response) => {
      sendJson(response, status, { title: 'No' })
    })
    await expect(client.tools(RANGE)).rejects.toBeInstanceOf(RefusedError)
    expect(requests).toHaveLength(1)
  })

  const KEY = 'fk-Qx7Zp9vL2mR8tN4kW6yB1sD5'
  const quoting = { 'x-request-id': `req-${KEY}`, [`x-${KEY}`.toLowerCase()]: `Bearer ${KEY}` }
  it.each([
    ['the headers of an empty error response', 400, ''],
    [
      'the body of an error response',
      400,
      JSON.stringify({ title: KEY, requestId: KEY.slice(0, 14) }),
    ],
    ['the headers and body of a good response', 200, JSON.stringify({ [KEY]: KEY })],
  ])('law 11: removes the credential from %s', async (_, status, body) => {
    const { url } = await testServer((_, response) => {
      response.writeHead(status, quoting).end(body)
    })
    const transport = new Transport(
      { credential: KEY, rate: 100, concurrency: 1, deadline: Infinity },
      testWorld(),
    )
    const call = { method: 'GET', base: url, path: '/', maxBytes: 100_000 } as const
    const seen = await transport
      .call(call, (answer) => JSON.stringify([answer.headers, Buffer.from(answer.body).toString()]))
      .catch((error: unknown) => wordsOf(error) + JSON.stringify(error))
    expect(seen).toContain('[redacted]')
    expect(seen.toLowerCase()).not.toContain(KEY.slice(0, 14).toLowerCase())
  })

  it('law 11: removes the credential from network errors', async () => {
    const world = testWorld()
    const cause = new Error(`the proxy refused Bearer ${KEY}`)
    const failing = {
      ...world,
      fetch: () => Promise.reject(new TransportError(`no response to ${KEY}`, false, { cause })),
    }
    const transport = new Transport(
      { credential: KEY, rate: 100, concurrency: 1, deadline: Infinity },
      failing,
    )
    const call = { method: 'GET', base: 'http://127.0.0.1:1', path: '/', maxBytes: 1 } as const
    const failure = await transport.call(call, () => '').catch((error: unknown) => wordsOf(error))
    expect(failure).toContain('the proxy refused Bearer [redacted]')
    expect(failure + JSON.stringify(world.events)).not.toContain(KEY)
  })

  it('gives up after six attempts, with the last error', async () => {
    const { client, requests } = await clientOf((_, response) => {
      response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>')
    })
    await expect(client.tools(RANGE)).rejects.toThrow(/502/)
    expect(requests).toHaveLength(6)
  })

  it('gives up after two attempts that each had their whole time, which is minutes', async () => {
    const { client, requests } = await clientOf(() => undefined)
    await expect(client.tools(RANGE)).rejects.toBeInstanceOf(TransportError)
    expect(requests).toHaveLength(2)
  })

  it.each([
    ['a timeout', 0],
    ['a 504', 504],
  ])('does not retry after %s when the caller can bisect the range', async (_, status) => {
    const { client, requests } = await clientOf((_, response) => {
      if (status > 0) sendJson(response, status, {})
    })
    const range = { first: '2026-03-01' as Day, last: '2026-03-02' as Day }
    const failure = client.ask('tools', { range, isDivisible: true })
    await expect(failure).rejects.toThrow(/504|no complete response/)
    expect(requests).toHaveLength(1)
  })

  it('fails with the reason when the connection is refused', async () => {
    const world = testWorld()
    const client = new ApiClient(
      {
        baseUrl: 'http://127.0.0.1:1',
        credential: 'k',
        rate: 100,
        concurrency: 1,
        deadline: Infinity,
      },
      world,
    )
    const failure = await client.tools(RANGE).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(TransportError)
    expect(String(failure)).toContain('ECONNREFUSED')
  })

  it('never follows a redirect, so that the credential stays with its origin', async () => {
    const { client, requests } = await clientOf((_, response) => {
      response.writeHead(302, { location: '/elsewhere' }).end()
    })
    await expect(client.tools(RANGE)).rejects.toBeInstanceOf(ApiError)
    expect(requests).toHaveLength(1)
  })

  it('stops reading a body that is larger than allowed', async () => {
    const world = testWorld()
    const server = await testServer((_, response) => {
      response.write('x'.repeat(70_000))
      response.end('x'.repeat(70_000))
    })
    const transport = new Transport(
      { credential: 'k', rate: 100, concurrency: 1, deadline: Infinity },
      world,
    )
    const call = { method: 'GET', base: server.url, path: '/', maxBytes: 100_000 } as const
    await expect(transport.call(call, () => 1)).rejects.toBeInstanceOf(BodyTooLargeError)
    expect(server.requests).toHaveLength(1)
  })
})

describe('waiting', () => {
  it('lasts exactly as long as Retry-After says', async () => {
    const world = testWorld()
    const { client } = await clientOf((_, response, count) => {
      if (count === 1) sendJson(response, 429, {}, { 'retry-after': '17' })
      else sendJson(response, 200, EMPTY)
    }, world)
    await client.tools(RANGE)
    expect(world.slept).toEqual([17_000])
    expect(world.events).toContainEqual(
      expect.objectContaining({ type: 'governor.paused', waitMs: 17_000 }),
    )
  })

  it('follows the Retry-After of a 503', async () => {
    const world = testWorld()
    const { client } = await clientOf((_, response, count) => {
      if (count === 1) sendJson(response, 503, {}, { 'retry-after': '9' })
      else sendJson(response, 200, EMPTY)
    }, world)
    await client.tools(RANGE)
    expect(world.slept).toEqual([9_000])
  })

  it('ends after six attempts at a 503, which is a fault and not a rate limit', async () => {
    const { client, requests } = await clientOf((_, response) => {
      sendJson(response, 503, {})
    })
    await expect(client.tools(RANGE)).rejects.toBeInstanceOf(ApiError)
    expect(requests).toHaveLength(6)
  })

  it('law 10: defers at once when Retry-After is longer than the run has left', async () => {
    const world = testWorld()
    const { client, requests } = await clientOf(
      (_, response) => {
        sendJson(response, 429, { title: 'Too many' }, { 'retry-after': '86400' })
      },
      world,
      60_000,
    )
    await expect(client.tools(RANGE)).rejects.toBeInstanceOf(DeferredError)
    expect(world.slept).toEqual([])
    expect(requests).toHaveLength(1)
  })

  it('defers the run after 20 retries of a 429', async () => {
    const { client, requests } = await clientOf((_, response) => {
      sendJson(response, 429, {})
    })
    await expect(client.tools(RANGE)).rejects.toBeInstanceOf(DeferredError)
    expect(requests).toHaveLength(21)
  })

  it('sends no request after the deadline', async () => {
    const { client, requests } = await clientOf(
      (_, response) => void response.end(),
      testWorld(),
      0,
    )
    await expect(client.tools(RANGE)).rejects.toBeInstanceOf(DeferredError)
    expect(requests).toHaveLength(0)
  })

  it('names the failure after which there is no time for another attempt', async () => {
    const { client, requests } = await clientOf(
      (_, response) => {
        sendJson(response, 500, { title: 'Broken' })
      },
      testWorld(),
      3_000,
    )
    const asked = client.tools(RANGE)
    await expect(asked).rejects.toBeInstanceOf(DeferredError)
    await expect(asked).rejects.toThrow(/500.*; the next attempt would be after the time limit$/)
    expect(requests).toHaveLength(4)
  })
})

describe('a run that is stopped', () => {
  it('awaits the response in flight, and uses it', async () => {
    const world = testWorld()
    const { client, requests } = await clientOf((_, response) => {
      world.stop.abort(new DeferredError('stopped'))
      sendJson(response, 200, { data: [{ date: '2026-03-01' }], meta: {} })
    }, world)
    expect(await client.tools(RANGE)).toHaveLength(1)
    await expect(client.tools(RANGE)).rejects.toThrow('stopped')
    expect(requests).toHaveLength(1)
  })

  it.each([429, 500])('does not repeat an awaited request that got a %i', async (status) => {
    const world = testWorld()
    const { client, requests } = await clientOf((_, response) => {
      world.stop.abort(new DeferredError('stopped'))
      sendJson(response, status, {})
    }, world)
    await expect(client.tools(RANGE)).rejects.toBeInstanceOf(DeferredError)
    expect(requests).toHaveLength(1)
  })

  it('ends the wait of queued requests at once', async () => {
    const world = testWorld()
    const server = await testServer((_, response) => {
      sendJson(response, 200, EMPTY)
    })
    const client = new ApiClient(
      { baseUrl: server.url, credential: 'k', rate: 0.01, concurrency: 4, deadline: Infinity },
      world,
    )
    await client.tools(RANGE)
    const waiting = client.tools(RANGE)
    world.stop.abort(new DeferredError('stopped'))
    await expect(waiting).rejects.toThrow('stopped')
    expect(server.requests).toHaveLength(1)
  })
})

describe('pages of users', () => {
  const page = (users: string[], more: boolean, cursor: string | null) => ({
    data: users.map((user) => ({ user_id: user, date: '2026-03-01' })),
    meta: { org_id: 'o', has_more: more, next_cursor: cursor },
  })
  const day = { startDate: '2026-03-01', endDate: '2026-03-01' }
  const collectUsers = async (client: ApiClient): Promise<string[]> => {
    const users: string[] = []
    for await (const rows of client.users(day)) users.push(...rows.map((row) => row.user_id))
    return users
  }

  it('law 9: end when has_more is false, whatever the cursor says', async () => {
    const { client, requests } = await clientOf((_, response, count) => {
      sendJson(response, 200, count === 1 ? page(['a'], true, 'a') : page(['b'], false, 'b'))
    })
    expect(await collectUsers(client)).toEqual(['a', 'b'])
    expect(requests[1]).toContain('limit=100&cursor=a')
  })

  it('go on after an empty page that says there is more', async () => {
    const { client } = await clientOf((_, response, count) => {
      sendJson(response, 200, count === 1 ? page([], true, 'x') : page(['b'], false, null))
    })
    expect(await collectUsers(client)).toEqual(['b'])
  })

  it('have the size limit of a range, which is below that of a single day', async () => {
    const base = testWorld()
    const limits: number[] = []
    const world = {
      ...base,
      fetch: (request: HttpRequest) => {
        limits.push(request.maxBytes)
        return base.fetch(request)
      },
    }
    const { client } = await clientOf((_, response) => {
      sendJson(response, 200, EMPTY)
    }, world)
    await collectUsers(client)
    await client.tools(RANGE)
    await client.tools(day)
    const [page, range, single] = limits
    expect(page).toBe(range)
    expect(single).toBeGreaterThan(page ?? Infinity)
  })

  it('fail on has_more without a cursor', async () => {
    const { client } = await clientOf((_, response) => {
      sendJson(response, 200, page(['a'], true, null), { 'x-request-id': 'req-5' })
    })
    const failure = await collectUsers(client).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(BodyError)
    expect(String(failure)).toContain('req-5')
  })
})
