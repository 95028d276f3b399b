import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  ApiError,
  RefusedError,
  UnknownOutcomeError,
  type ApiClient,
} from '../../src/client/index.ts'
import { RATE_RETRIES, RETRIES } from '../../src/client/http/failures.ts'
import { Transport } from '../../src/client/http/transport.ts'
import { DeferredError } from '../../src/lib/errors.ts'
import { sendJson, type Handler } from '../support/helpers.ts'
import { failureOf, onServer } from './support.ts'
import { VirtualTime } from './virtual-time.ts'

type Call = (client: ApiClient) => Promise<unknown>

const CHECK_FIRST =
  'It is not known whether the platform made the change: check before you repeat it.'

/** Requests that take effect twice when they are sent twice. */
const ONCE: readonly [string, Call][] = [
  ['PATCH of a session', ({ sessions }) => sessions.update('s', { model: 'm' })],
  ['POST interrupt', ({ sessions }) => sessions.interrupt('s')],
  ['POST install-deps', ({ computers }) => computers.installDependencies('c')],
  ['POST refresh', ({ computers }) => computers.refresh('c')],
  ['POST restart', ({ computers }) => computers.restart('c')],
  ['DELETE of a computer', ({ computers }) => computers.delete('c')],
]

const FAULTS: readonly [string, Handler][] = [
  ['a connection reset', (request) => void request.socket.destroy()],
  ['a timeout', () => undefined],
  ['a truncated response', (_, response) => void response.writeHead(200).write('{"a":')],
  ['a body that is not JSON', (_, response) => void response.end('<html>fine</html>')],
  [
    '408',
    (_, response) => {
      sendJson(response, 408, { title: 'late' })
    },
  ],
  [
    '500',
    (_, response) => {
      sendJson(response, 500, { title: 'broken' })
    },
  ],
  [
    '502',
    (_, response) => {
      sendJson(response, 502, { title: 'gateway' })
    },
  ],
  [
    '503',
    (_, response) => {
      sendJson(response, 503, { title: 'full' }, { 'retry-after': '1' })
    },
  ],
  [
    '504',
    (_, response) => {
      sendJson(response, 504, { title: 'late' })
    },
  ],
]

/** Short only for faults that last until it, so that a busy machine adds no fault. */
function timeLimitOf(fault: string): { timeoutMs: number } {
  return { timeoutMs: ['a timeout', 'a truncated response'].includes(fault) ? 1_000 : 60_000 }
}

describe.each(ONCE)('%s', (_, call) => {
  it.each(FAULTS)('is not repeated after %s: its outcome is unknown', async (name, fault) => {
    const { client, requests } = await onServer((request, response, count) => {
      if (count === 1) fault(request, response, count)
      else sendJson(response, 200, {})
    }, timeLimitOf(name))
    const failure = await failureOf(call(client))
    expect(failure).toBeInstanceOf(UnknownOutcomeError)
    expect(failure).toHaveProperty('hint', CHECK_FIRST)
    expect(failure.cause).toBeInstanceOf(Error)
    expect(requests).toHaveLength(1)
  })

  it.each([400, 404, 409, 422])('fails with an ApiError after a %i', async (status) => {
    const { client, requests } = await onServer((_request, response) => {
      sendJson(response, status, { title: 'No', detail: 'because' })
    })
    const failure = await failureOf(call(client))
    expect(failure).toBeInstanceOf(ApiError)
    expect(failure).toMatchObject({ status, problem: { title: 'No', detail: 'because' } })
    expect(requests).toHaveLength(1)
  })

  it('is deferred after a 429, and not repeated', async () => {
    const { client, requests } = await onServer((_request, response) => {
      sendJson(response, 429, { title: 'slow' }, { 'retry-after': '1' })
    })
    expect(await failureOf(call(client))).toBeInstanceOf(DeferredError)
    expect(requests).toHaveLength(1)
  })

  it.each([401, 403])('fails with a RefusedError after a %i', async (status) => {
    const { client, requests } = await onServer((_request, response) => {
      sendJson(response, status, { title: 'No' })
    })
    expect(await failureOf(call(client))).toBeInstanceOf(RefusedError)
    expect(requests).toHaveLength(1)
  })
})

describe('a PUT, which is idempotent', () => {
  const puts: readonly [string, Call][] = [
    ['the global limit', ({ limits }) => limits.setGlobal(null)],
    ['limits of users', ({ limits }) => limits.setUsers([{ email: 'a@x', limit: 1 }])],
  ]

  describe.each(puts)('%s', (_, call) => {
    it.each(FAULTS)('is sent again after %s', async (name, fault) => {
      const { client, requests } = await onServer((request, response, count) => {
        if (count === 1) fault(request, response, count)
        else sendJson(response, 200, { limit: null, updated: [], errors: [] })
      }, timeLimitOf(name))
      await call(client)
      expect(requests).toHaveLength(2)
    })

    it('has an unknown outcome when an attempt without a response is followed by rate refusals only', async () => {
      const { client } = await onServer((request, response, count) => {
        if (count === 1) request.socket.destroy()
        else sendJson(response, 429, {}, { 'retry-after': '1' })
      })
      expect(await failureOf(call(client))).toBeInstanceOf(UnknownOutcomeError)
    })

    it('has an unknown outcome when every attempt fails', async () => {
      const { client, requests } = await onServer((_request, response) => {
        sendJson(response, 500, { title: 'broken' })
      })
      expect(await failureOf(call(client))).toBeInstanceOf(UnknownOutcomeError)
      expect(requests).toHaveLength(6)
    })
  })
})

describe('a request in flight when the run is stopped', () => {
  it('is awaited, and its response is used', async () => {
    const { client, world } = await onServer((_request, response) => {
      world.stop.abort(new Error('stopped'))
      sendJson(response, 200, { configured: 3 })
    })
    expect(await client.computers.refresh('c')).toEqual({ configured: 3 })
  })
})

describe('rate limit waits and faults of one request', () => {
  const wait = fc.record({
    status: fc.constant(429),
    headers: fc.constantFrom({}, { 'retry-after': '0' }, { 'retry-after': '7' }),
  })
  const fault = fc.record({
    status: fc.constantFrom(408, 425, 500, 502, 503, 504),
    headers: fc.constantFrom({}, { 'retry-after': '3' }),
  })
  const mixtures = (waits: number, faults: number) =>
    fc
      .tuple(
        fc.array(wait, { minLength: waits, maxLength: waits }),
        fc.array(fault, { minLength: faults, maxLength: faults }),
      )
      .chain(([a, b]) => {
        const answers = [...a, ...b]
        return fc.shuffledSubarray(answers, {
          minLength: answers.length,
          maxLength: answers.length,
        })
      })

  /** Sends a request to a server that gives these responses and then a good one. */
  async function ask(
    answers: readonly { status: number; headers: Record<string, string> }[],
    runForMs = Infinity,
  ) {
    let count = 0
    const time = new VirtualTime(
      () => {
        count += 1
        return answers[count - 1] ?? { status: 200, headers: {} }
      },
      { latencyMs: () => 10 },
    )
    const began = time.world.now()
    const bounds = { credential: 'k', rate: 1000, concurrency: 8, deadline: began + runForMs }
    const transport = new Transport(bounds, time.world)
    const call = {
      method: 'GET',
      base: 'https://api.example.com',
      path: '/x',
      maxBytes: 9,
    } as const
    const failure = await time.until(
      transport.call(call, () => undefined).catch((error: unknown) => error),
    )
    return { failure, count, lastedMs: time.world.now() - began }
  }

  it.each<[string, number, number]>([
    ['five waits and a fault', 5, 1],
    ['all waits and all faults', RATE_RETRIES, RETRIES],
    ['all faults', 0, RETRIES],
    ['all waits', RATE_RETRIES, 0],
  ])('have separate retry budgets: %s', async (_, waits, faults) => {
    const refused = { status: 429, headers: { 'retry-after': '1' } }
    const broken = { status: 502, headers: {} }
    const answers = [
      ...Array.from({ length: waits }, () => refused),
      ...Array.from({ length: faults }, () => broken),
    ]
    for (const order of [answers, answers.toReversed()]) {
      expect(await ask(order)).toMatchObject({ failure: undefined, count: waits + faults + 1 })
    }
  })

  it('have separate retry budgets in any order', async () => {
    const within = fc
      .tuple(fc.nat(RATE_RETRIES), fc.nat(RETRIES))
      .chain(([waits, faults]) => mixtures(waits, faults))
    await fc.assert(
      fc.asyncProperty(within, async (answers) => {
        expect(await ask(answers)).toMatchObject({
          failure: undefined,
          count: answers.length + 1,
        })
      }),
      { numRuns: 60 },
    )
  })

  it('end with the first fault beyond its budget, whatever the waits before', async () => {
    const beyond = fc
      .nat(RATE_RETRIES)
      .chain((waits) => mixtures(waits, RETRIES + 1).map((answers) => [...answers]))
    await fc.assert(
      fc.asyncProperty(beyond, async (answers) => {
        const { failure, count } = await ask(answers)
        expect(failure).toBeInstanceOf(ApiError)
        expect(answers.slice(0, count).filter(({ status }) => status !== 429)).toHaveLength(
          RETRIES + 1,
        )
      }),
      { numRuns: 30 },
    )
  })

  it('end at the deadline of the run', async () => {
    const within = fc
      .tuple(fc.nat(RATE_RETRIES), fc.nat(RETRIES))
      .chain(([waits, faults]) => mixtures(waits, faults))
    await fc.assert(
      fc.asyncProperty(within, fc.integer({ min: 1, max: 60_000 }), async (answers, runForMs) => {
        const { failure, lastedMs } = await ask(answers, runForMs)
        expect(lastedMs).toBeLessThanOrEqual(runForMs + 20)
        if (failure !== undefined) expect(failure).toBeInstanceOf(DeferredError)
      }),
      { numRuns: 60 },
    )
  })
})
