import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ApiError, ApiClient, RefusedError } from '../../src/client/index.ts'
import { failureOf } from '../client/support.ts'
import { sendJson, testPlatform, testWorld, type Handler } from '../support/helpers.ts'
import {
  ENDPOINTS,
  escapedPath,
  problemTitle,
  requestTitle,
  STATUSES,
  type Endpoint,
} from './specification/endpoints.ts'
import { PROBLEM } from './specification/samples.ts'

interface Asked {
  readonly method: string | undefined
  readonly url: URL
  readonly authorization: string | undefined
  readonly body: string
}

const ends: (() => void | Promise<void>)[] = []
let addresses: { readonly baseUrl: string; readonly appUrl: string }
let answer: Handler

beforeAll(async () => {
  const { url, appUrl } = await testPlatform(
    (request, response, count) => {
      answer(request, response, count)
    },
    (end) => ends.push(end),
  )
  addresses = { baseUrl: url, appUrl }
})
afterAll(async () => {
  for (const end of ends) await end()
})

function open(): ApiClient {
  const options = { credential: 'key-1', rate: 1000, concurrency: 4, deadline: Infinity }
  return new ApiClient({ ...options, ...addresses }, testWorld())
}

async function askedBy(request: IncomingMessage): Promise<Asked> {
  const { method, headers, url = '' } = request
  const { authorization } = headers
  const host = `http://${headers.host ?? ''}`
  return { method, url: new URL(url, host), authorization, body: await text(request) }
}

const named = ENDPOINTS.map((each) => [requestTitle(each), each] as const)

it.each(named)('%s', async (_, endpoint) => {
  const { path, query, body, status } = endpoint
  const asked: Asked[] = []
  answer = (request, response) => {
    void askedBy(request).then((each) => {
      asked.push(each)
      if (endpoint.answer === undefined) response.writeHead(status).end()
      else sendJson(response, status, endpoint.answer)
    })
  }
  expect(await endpoint.call(open())).toEqual(endpoint.returned)
  expect(asked).toHaveLength(1)
  const [request] = asked
  expect(request?.method).toBe(endpoint.method)
  expect(request?.url.pathname).toBe(escapedPath(path))
  expect(Object.fromEntries(request?.url.searchParams ?? [])).toEqual(query)
  expect(request?.authorization).toBe('Bearer key-1')
  expect(request?.body).toBe(body === undefined ? '' : JSON.stringify(body))
  expect(request?.url.origin).toBe(endpoint.host === 'app' ? addresses.appUrl : addresses.baseUrl)
})

/** One endpoint for each path: the forms of a path have the same errors. */
const paths = new Map<string, Endpoint>(
  ENDPOINTS.map((each) => [`${each.method} ${each.path}`, each]),
)
const errors = [...paths.values()].flatMap((each) =>
  STATUSES.map((status) => [problemTitle(each, status), each, status] as const),
)

it.each(errors)('%s', async (_, endpoint, status) => {
  const problem = { ...PROBLEM, status }
  answer = (_request, response) => {
    sendJson(response, status, problem)
  }
  const failure = await failureOf(endpoint.call(open()))
  expect(failure).toBeInstanceOf(status === 401 || status === 403 ? RefusedError : Error)
  const { cause } = failure
  const reported = failure instanceof ApiError || failure instanceof RefusedError ? failure : cause
  expect(reported).toMatchObject({ status, problem })
})

describe('the analytics envelope', () => {
  const range = { startDate: '2026-01-14', endDate: '2026-01-14' }
  const meta = { org_id: 'org-1', start_date: '2026-01-14', end_date: '2026-01-14' }
  const row = { date: '2026-01-14', user_id: 'u' }

  function serve(...bodies: readonly object[]): string[] {
    const asked: string[] = []
    answer = (request, response) => {
      sendJson(response, 200, bodies[Math.min(asked.push(request.url ?? ''), bodies.length) - 1])
    }
    return asked
  }

  it.each([
    ['a response without data', { meta }],
    ['a response whose data is not a list', { data: row, meta }],
    [
      'a response with another meta.start_date',
      { data: [], meta: { ...meta, start_date: '2026-01-15' } },
    ],
    [
      'a response with another meta.end_date',
      { data: [], meta: { ...meta, end_date: '2026-01-13' } },
    ],
  ])('%s is an error, not an empty day', async (_, body) => {
    serve(body)
    expect((await failureOf(open().tools(range))).name).toMatch(/BodyError|ContradictionError/)
  })

  it('meta.has_more and meta.next_cursor control the pagination of users', async () => {
    const asked = serve(
      { data: [row], meta: { ...meta, has_more: true, next_cursor: 'u' } },
      { data: [{ ...row, user_id: 'v' }], meta: { ...meta, has_more: false, next_cursor: null } },
    )
    const users: string[] = []
    for await (const page of open().users(range)) users.push(...page.map(({ user_id }) => user_id))
    expect(users).toEqual(['u', 'v'])
    const cursors = asked.map((path) => new URL(path, 'http://host').searchParams.get('cursor'))
    expect(cursors).toEqual([null, 'u'])
  })

  it('meta.has_more without a cursor is an error, not the end of the users', async () => {
    serve({ data: [row], meta: { ...meta, has_more: true, next_cursor: null } })
    const readPages = async (): Promise<void> => {
      for await (const page of open().users(range)) expect(page).toHaveLength(1)
    }
    expect((await failureOf(readPages())).message).toContain('there is no cursor')
  })
})

describe('invalid dates for analytics', () => {
  it.each(['20260114', '2026-02-30', '2026-01-14T00:00:00Z', ''])(
    'the date %j is refused before any request',
    async (date) => {
      let requests = 0
      answer = () => (requests += 1)
      const call = open().tokens({ startDate: date, endDate: '2026-01-20' })
      expect((await failureOf(call)).name).toBe('UsageError')
      expect(requests).toBe(0)
    },
  )
})

it('a page of controls is requested without a limit unless one is given', async () => {
  const asked: (string | undefined)[] = []
  answer = (request, response) => {
    asked.push(request.url)
    sendJson(response, 200, { changes: [] })
  }
  await open().controls.page()
  await open().controls.page({ limit: 1 })
  const path = '/api/v0/organization/enterprise-controls/history'
  expect(asked).toEqual([path, `${path}?limit=1`])
})

it('requestId of a Problem is null where the response has none', async () => {
  answer = (_, response) => {
    sendJson(response, 400, { title: 'Bad Request', detail: 'no', status: 400, metadata: {} })
  }
  const failure = await failureOf(open().computers.list())
  expect(failure).toMatchObject({ problem: { requestId: null, metadata: {} } })
})
