import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import type { Credits, ApiClient } from '../../src/client/index.ts'
import { parseDay } from '../../src/lib/days.ts'
import { UsageError } from '../../src/lib/errors.ts'
import { sendJson } from '../support/helpers.ts'
import { failureOf, onServer } from './support.ts'

type Call = (client: ApiClient) => Promise<unknown>

const day = parseDay('2026-03-01', 'a day')
const DAY = { first: day, last: day }
const user = (index: number) => ({ email: `user${index}@acme.example`, limit: 5 })
const users = (count: number) => Array.from({ length: count }, (_, index) => user(index))

const REFUSED: readonly [string, Call][] = [
  ['a global limit below 1,000,000', ({ limits }) => limits.setGlobal(999_999)],
  ['a global limit that is not whole', ({ limits }) => limits.setGlobal(1_000_000.5)],
  ['a global limit that is not a number', ({ limits }) => limits.setGlobal(NaN)],
  ['a global limit beyond 2^53', ({ limits }) => limits.setGlobal(2 ** 53)],
  ['limits for no user', ({ limits }) => limits.setUsers([])],
  ['limits for 101 users', ({ limits }) => limits.setUsers(users(101))],
  ['an empty e-mail', ({ limits }) => limits.setUsers([{ email: ' ', limit: 1 }])],
  ['a limit beyond 2^53', ({ limits }) => limits.setUsers([{ email: 'a@x', limit: 2 ** 53 }])],
  ['a limit that is not a number', ({ limits }) => limits.setUsers([{ email: 'a@x', limit: NaN }])],
  ['a limit of half a credit', ({ limits }) => limits.setUsers([{ email: 'a@x', limit: 0.5 }])],
  ['a page of 0 revisions', ({ controls }) => controls.page({ limit: 0 })],
  ['a page of 101 revisions', ({ controls }) => controls.page({ limit: 101 })],
  ['a page of 1.5 revisions', ({ controls }) => controls.fetchPage({ limit: 1.5 })],
  ['a page of 0 users', (client) => client.ask('users', { range: DAY, limit: 0 })],
  ['a page of 101 users', (client) => client.ask('users', { range: DAY, limit: 101 })],
  ['a page of 0 reports', ({ readiness }) => readiness.page({ limit: 0 })],
  ['a computer without a name', ({ computers }) => computers.getByName('')],
  ['a name of 64 characters', ({ computers }) => computers.getByName('x'.repeat(64))],
  ['a name of 64 emoji', ({ computers }) => computers.getByName('🛠'.repeat(64))],
  [
    'a start without a time zone',
    ({ computers }) => computers.metrics('c', { start: '2026-03-01' }),
  ],
  ['a start that is not a time', ({ computers }) => computers.metrics('c', { start: 'now' })],
  [
    'a start on 30 February',
    ({ computers }) => computers.metrics('c', { start: '2026-02-30T00:00:00Z' }),
  ],
  [
    'a start at 25 hours',
    ({ computers }) => computers.metrics('c', { start: '2026-03-01T25:00:00Z' }),
  ],
  [
    'a start after the end',
    (client) => client.tools({ startDate: '2026-03-02', endDate: '2026-03-01' }),
  ],
  ['an invalid date', (client) => client.tools({ startDate: '2026-02-30', endDate: '2026-03-01' })],
  ...['', ' ', '.', '..', '\ud800'].flatMap((id): [string, Call][] => [
    [`${JSON.stringify(id)} as the id of a computer`, ({ computers }) => computers.delete(id)],
    [`${JSON.stringify(id)} as the id of a session`, ({ sessions }) => sessions.interrupt(id)],
    [`${JSON.stringify(id)} as the id of a message`, ({ sessions }) => sessions.message('s', id)],
  ]),
]

describe('bounds', () => {
  it.each(REFUSED)('%s is refused before any request', async (_, call) => {
    const { client, requests } = await onServer((_request, response) => {
      sendJson(response, 200, {})
    })
    expect(await failureOf(call(client))).toBeInstanceOf(UsageError)
    expect(requests).toEqual([])
  })

  it('an error about the number of users says how many a request may have', async () => {
    const { client } = await onServer(() => undefined)
    expect(await failureOf(client.limits.setUsers(users(101)))).toMatchObject({
      message: 'a request sets the limits of 1 to 100 users, not of 101',
      hint: 'Give 1 to 100 users at a time.',
    })
  })

  it('values within the bounds are sent', async () => {
    const { client, requests } = await onServer((_request, response) => {
      sendJson(response, 200, { changes: [], reports: [], limit: null })
    })
    await client.limits.setGlobal(1_000_000)
    await client.limits.setGlobal(null)
    await client.limits.setUsers(users(1))
    await client.limits.setUsers(users(100))
    await client.controls.page({ limit: 1 })
    await client.controls.page({ limit: 100 })
    await client.readiness.page({ limit: 5000 })
    await client.computers.getByName('x'.repeat(63))
    await client.computers.getByName('🛠'.repeat(63))
    expect(requests).toHaveLength(9)
  })
})

describe('a limit is sent digit for digit', () => {
  it.each<[Credits, string]>([
    [0, '0'],
    [1, '1'],
    [-5, '-5'],
    [Number.MAX_SAFE_INTEGER, '9007199254740991'],
    [9_007_199_254_740_993n, '9007199254740993'],
    [-(10n ** 30n), `-1${'0'.repeat(30)}`],
    [null, 'null'],
  ])('%s for a user', async (limit, spelled) => {
    const { client, bodies } = await onBodies()
    await client.limits.setUsers([{ email: 'a"@x', limit }])
    expect(bodies).toEqual([`{"users":[{"email":"a\\"@x","limit":${spelled}}]}`])
  })

  it.each<[Credits, string]>([
    [1_000_000, '1000000'],
    [9_007_199_254_740_993n, '9007199254740993'],
    [null, 'null'],
  ])('%s as the global limit', async (limit, spelled) => {
    const { client, bodies } = await onBodies()
    await client.limits.setGlobal(limit)
    expect(bodies).toEqual([`{"limit":${spelled}}`])
  })

  /** A client of a server that records the bodies of requests. */
  async function onBodies() {
    const bodies: string[] = []
    const { client } = await onServer((request, response) => {
      void text(request).then((body) => {
        bodies.push(body)
        sendJson(response, 200, { limit: null, updated: [], errors: [] })
      })
    })
    return { client, bodies }
  }
})

describe('ids and names in a path', () => {
  it.each([
    ['a/b', 'a%2Fb'],
    ['a?b#c', 'a%3Fb%23c'],
    ['../x', '..%2Fx'],
    ['a b%2F', 'a%20b%252F'],
    ['é', '%C3%A9'],
    ['a\r\nhost: b', 'a%0D%0Ahost%3A%20b'],
  ])('%j stays one segment', async (id, segment) => {
    const { client, requests } = await onServer((_request, response) => {
      sendJson(response, 200, {})
    })
    await client.computers.get(id)
    await client.computers.getByName(id)
    await client.sessions.message(id, id, { computerId: id })
    const query = new URLSearchParams({ computerId: id }).toString()
    expect(requests).toEqual([
      `GET /api/v0/computers/${segment}`,
      `GET /api/v0/computers/name/${segment}`,
      `GET /api/v0/sessions/${segment}/messages/${segment}?${query}`,
    ])
  })
})
