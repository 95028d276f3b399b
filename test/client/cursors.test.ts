import { describe, expect, it } from 'vitest'
import { ApiError, ContradictionError, type ApiClient } from '../../src/client/index.ts'
import { sendJson, type Handler } from '../support/helpers.ts'
import { failureOf, onServer, wordsOf } from './support.ts'

/** The platform's cursor is the id of a user, and an id may be a name. */
const CURSOR = 'ada lovelace/42'

async function usersOf(client: ApiClient): Promise<void> {
  const day = { startDate: '2026-03-01', endDate: '2026-03-01' }
  for await (const page of client.users(day)) expect(page).toHaveLength(1)
}

/** The first page leads to a second one, which `second` answers. */
function secondPage(second: Handler): Handler {
  return (request, response, count) => {
    if (!(request.url ?? '').includes('cursor=')) {
      const data = [{ user_id: 'a', date: '2026-03-01' }]
      sendJson(response, 200, {
        data,
        changes: data,
        meta: { org_id: 'o', has_more: true, next_cursor: CURSOR },
        pagination: { hasMore: true, nextCursor: CURSOR },
      })
      return
    }
    second(request, response, count)
  }
}

const refused = (status: number): Handler => {
  return (_, response) => {
    sendJson(response, status, {
      title: 'Bad cursor',
      detail: `${CURSOR} (${encodeURIComponent(CURSOR)}) is gone`,
    })
  }
}

const again: Handler = (_, response) => {
  sendJson(response, 200, {
    data: [{ user_id: 'b', date: '2026-03-01' }],
    changes: [],
    meta: { org_id: 'o', has_more: true, next_cursor: CURSOR },
    pagination: { hasMore: true, nextCursor: CURSOR },
  })
}

const SECOND_PAGES: readonly [string, Handler][] = [
  ['is refused', refused(400)],
  ['is refused with 403', refused(403)],
  ['meets a server error', refused(500)],
  ['meets a rate limit', refused(429)],
  ['is repeated', again],
  ['is answered with HTML', (_, response) => void response.end('<html>')],
  ['is not answered', (request) => void request.socket.destroy()],
  [
    'is answered in an unknown encoding',
    (_, response) => {
      response.setHeader('content-encoding', 'no-such')
      response.end('x')
    },
  ],
]

const READS: readonly [string, (client: ApiClient) => Promise<unknown>][] = [
  ['users', usersOf],
  [
    'settings',
    async ({ controls }) => {
      for await (const change of controls.history()) expect(change).toBeDefined()
    },
  ],
]

describe.each(READS)(
  'law 11: the cursor of a page of %s appears in no error and no event',
  (_, read) => {
    it.each(SECOND_PAGES)('when it %s', async (__, second) => {
      const { client, world } = await onServer(secondPage(second))
      const failure = await failureOf(read(client))
      const output = `${wordsOf(failure)} ${JSON.stringify(world.events)}`
      expect(output).not.toMatch(/lovelace/i)
      expect(failure.message).toMatch(/cursor=\[#[0-9a-f]{8}\]/)
    })
  },
)

const PAGED: readonly [string, (client: ApiClient) => Promise<unknown>][] = [
  ...READS,
  [
    'readiness reports',
    async ({ readiness }) => {
      for await (const report of readiness.reports()) expect(report).toBeDefined()
    },
  ],
]

it.each(PAGED)('a cursor of a page of %s that quotes the key is not followed', async (_, read) => {
  const { client, requests } = await onServer(
    (_request, response) => {
      sendJson(response, 200, {
        data: [{ user_id: 'a', date: '2026-03-01' }],
        changes: [{ revision: 1 }],
        reports: [{ reportId: 'after-the-key-4711' }],
        meta: { org_id: 'o', has_more: true, next_cursor: 'after-the-key-4711' },
        pagination: { hasMore: true, nextCursor: 'after-the-key-4711' },
      })
    },
    { credential: 'the-key-4711' },
  )
  const failure = await failureOf(read(client))
  expect(failure).toBeInstanceOf(ContradictionError)
  expect(failure.message).toContain('quotes the credential')
  expect(requests).toHaveLength(1)
})

it('an error message of the platform is kept, with [cursor] in place of a quoted cursor', async () => {
  const { client } = await onServer(secondPage(refused(400)))
  const failure = await failureOf(usersOf(client))
  expect(failure).toBeInstanceOf(ApiError)
  expect(failure.message).toMatch(/400 Bad cursor: \[cursor\] \(\[cursor\]\) is gone/)
})
