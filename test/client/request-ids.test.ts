import { expect, it } from 'vitest'
import {
  requestIdOf,
  TransportError,
  UnknownOutcomeError,
  type ApiClient,
} from '../../src/client/index.ts'
import { DeferredError } from '../../src/lib/errors.ts'
import { sendJson, type Handler } from '../support/helpers.ts'
import { failureOf, onServer } from './support.ts'

const ID = { 'x-request-id': 'r-1' }
const LATE = { ...ID, 'retry-after': '3600' }

const FAILURES: readonly [string, unknown, Handler, (client: ApiClient) => Promise<unknown>][] = [
  [
    'an unknown outcome',
    UnknownOutcomeError,
    (_, response) => {
      sendJson(response, 500, {}, ID)
    },
    ({ computers }) => computers.restart('c'),
  ],
  [
    'a deferral after a 429',
    DeferredError,
    (_, response) => {
      sendJson(response, 429, {}, LATE)
    },
    ({ computers }) => computers.list(),
  ],
  [
    'a response that is cut off',
    TransportError,
    (_, response) => {
      response.writeHead(200, { ...ID, 'content-length': '500' }).write('{"computers":[')
      setTimeout(() => response.destroy(), 20)
    },
    ({ computers }) => computers.list(),
  ],
]

it.each(FAILURES)('%s has the id of its request', async (_, kind, handler, call) => {
  const { client } = await onServer(handler, { deadline: Date.parse('2026-03-10T06:30:00Z') })
  const failure = await failureOf(call(client))
  expect(failure.constructor).toBe(kind)
  expect(requestIdOf(failure)).toBe('r-1')
})
