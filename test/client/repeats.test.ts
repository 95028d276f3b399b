import { describe, expect, it } from 'vitest'
import {
  ApiError,
  RefusedError,
  UnknownOutcomeError,
  type PlatformClient,
} from '../../src/client/index.ts'
import { DeferredError } from '../../src/core/errors.ts'
import { sendJson, type Handler } from '../helpers.ts'
import { failureOf, onServer } from './support.ts'

type Call = (client: PlatformClient) => Promise<unknown>

const LOOK_FIRST = 'It is not known whether the platform did it: look before asking again.'

/** What is done twice when it is sent twice. */
const ONCE: readonly [string, Call][] = [
  ['PATCH of a session', ({ sessions }) => sessions.update('s', { model: 'm' })],
  ['POST interrupt', ({ sessions }) => sessions.interrupt('s')],
  ['POST install-deps', ({ computers }) => computers.installDependencies('c')],
  ['POST refresh', ({ computers }) => computers.refresh('c')],
  ['POST restart', ({ computers }) => computers.restart('c')],
  ['DELETE of a computer', ({ computers }) => computers.delete('c')],
]

const FAULTS: readonly [string, Handler][] = [
  ['a reset', (request) => void request.socket.destroy()],
  ['silence', () => undefined],
  ['half an answer', (_, response) => void response.writeHead(200).write('{"a":')],
  ['a body that is no JSON', (_, response) => void response.end('<html>fine</html>')],
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

describe.each(ONCE)('%s', (_, call) => {
  it.each(FAULTS)(
    'after %s is not repeated: what came of it is not known',
    async (_name, fault) => {
      const { client, requests } = await onServer(
        (request, response, count) => {
          if (count === 1) fault(request, response, count)
          else sendJson(response, 200, {})
        },
        { timeoutMs: 300 },
      )
      const failure = await failureOf(call(client))
      expect(failure).toBeInstanceOf(UnknownOutcomeError)
      expect(failure).toHaveProperty('hint', LOOK_FIRST)
      expect(failure.cause).toBeInstanceOf(Error)
      expect(requests).toHaveLength(1)
    },
  )

  it.each([400, 404, 409, 422])('that is refused with %i was not done', async (status) => {
    const { client, requests } = await onServer((_request, response) => {
      sendJson(response, status, { title: 'No', detail: 'because' })
    })
    const failure = await failureOf(call(client))
    expect(failure).toBeInstanceOf(ApiError)
    expect(failure).toMatchObject({ status, problem: { title: 'No', detail: 'because' } })
    expect(requests).toHaveLength(1)
  })

  it('that met a rate limit was not done, and is not repeated', async () => {
    const { client, requests } = await onServer((_request, response) => {
      sendJson(response, 429, { title: 'slow' }, { 'retry-after': '1' })
    })
    expect(await failureOf(call(client))).toBeInstanceOf(DeferredError)
    expect(requests).toHaveLength(1)
  })

  it.each([401, 403])('%i is final for the credential', async (status) => {
    const { client, requests } = await onServer((_request, response) => {
      sendJson(response, status, { title: 'No' })
    })
    expect(await failureOf(call(client))).toBeInstanceOf(RefusedError)
    expect(requests).toHaveLength(1)
  })
})

describe('PUT sets a value: twice is once', () => {
  const puts: readonly [string, Call][] = [
    ['the global limit', ({ limits }) => limits.setGlobal(null)],
    ['limits of users', ({ limits }) => limits.setUsers([{ email: 'a@x', limit: 1 }])],
  ]

  describe.each(puts)('%s', (_, call) => {
    it.each(FAULTS)('is set again after %s', async (_name, fault) => {
      const { client, requests } = await onServer(
        (request, response, count) => {
          if (count === 1) fault(request, response, count)
          else sendJson(response, 200, { limit: null, updated: [], errors: [] })
        },
        { timeoutMs: 300 },
      )
      await call(client)
      expect(requests).toHaveLength(2)
    })

    it('is not known in the end when every attempt fails', async () => {
      const { client, requests } = await onServer((_request, response) => {
        sendJson(response, 500, { title: 'broken' })
      })
      expect(await failureOf(call(client))).toBeInstanceOf(UnknownOutcomeError)
      expect(requests).toHaveLength(6)
    })
  })
})

describe('a request under way when the run is stopped', () => {
  it('is awaited, and its answer is good', async () => {
    const { client, world } = await onServer((_request, response) => {
      world.stop.abort(new Error('stopped'))
      sendJson(response, 200, { configured: 3 })
    })
    expect(await client.computers.refresh('c')).toEqual({ configured: 3 })
  })
})
