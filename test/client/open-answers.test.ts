import { describe, expect, it } from 'vitest'
import { BodyError, ContradictionError, type ApiClient } from '../../src/client/index.ts'
import { sendJson, type Handler } from '../support/helpers.ts'
import { failureOf, onServer, wordsOf } from './support.ts'

const SECRET = 'sk-never-shown-4711'

const serving =
  (body: unknown): Handler =>
  (_, response) => {
    sendJson(response, 200, body)
  }

describe('a response beyond the specification', () => {
  it('may have unknown values of an enum', async () => {
    const session = {
      sessionId: 's',
      status: 'hibernating',
      messageCount: 1,
      createdAt: 1,
      updatedAt: 1,
    }
    const { client } = await onServer(serving(session))
    expect((await client.sessions.get('s')).status).toBe('hibernating')
  })

  it('may have unknown properties at any depth, and keeps digits beyond 2^53', async () => {
    const text =
      '{"id":"c","name":"n","providerType":"moon-base","createdAt":9007199254740993,"orbit":{"km":1e3}}'
    const { client } = await onServer((_, response) => void response.end(`{"computers":[${text}]}`))
    const { value, items } = await client.computers.fetchAll()
    expect(value.computers[0]).toMatchObject({ providerType: 'moon-base', orbit: { km: 1000 } })
    expect(items[0]?.text).toBe(text)
  })

  it('may have unknown blocks of content', async () => {
    const content = [
      { type: 'hologram', layers: [1, { deep: true }] },
      { type: 'text', text: 'a', id: 'b' },
    ]
    const { client } = await onServer(
      serving({ id: 'm', role: 'narrator', content, createdAt: 1, updatedAt: 1 }),
    )
    const message = await client.sessions.message('s', 'm')
    expect(message.content).toEqual(content)
    expect(message.role).toBe('narrator')
  })

  it('may have unknown settings', async () => {
    const settings = { brandNew: { x: [null, true] }, maxAutonomyLevel: 'ludicrous' }
    const { client } = await onServer(
      serving({ changes: [{ revision: 1, settings }], pagination: { hasMore: false } }),
    )
    expect((await client.controls.page()).changes[0]?.settings).toEqual(settings)
  })
})

describe('a response that is not as documented', () => {
  const reads: readonly [string, (client: ApiClient) => Promise<unknown>][] = [
    ['controls', ({ controls }) => controls.page()],
    ['limits', ({ limits }) => limits.get()],
    ['readiness', ({ readiness }) => readiness.page()],
    ['computers', ({ computers }) => computers.list()],
    ['metrics', ({ computers }) => computers.metrics('c')],
    ['a session', ({ sessions }) => sessions.get('s')],
    ['a message', ({ sessions }) => sessions.message('s', 'm')],
    ['the global limit', ({ limits }) => limits.setGlobal(null)],
    ['a change of a session', ({ sessions }) => sessions.update('s', {})],
  ]
  const bodies: readonly [string, string][] = [
    ['an HTML page', `<html>${SECRET}</html>`],
    ['a truncated response', `{"changes":[{"apiKey":"${SECRET}"`],
    ['a JSON string', `"${SECRET}"`],
    ['invalid JSON inside', `{"changes":[{"apiKey":${SECRET}}],"a":${SECRET}}`],
    ['invalid UTF-16', `{"a":"\ud800${SECRET}"`],
    ['a bare secret', SECRET],
  ]

  it.each(
    reads.flatMap(([what, call]) =>
      bodies.map(([body, text]) => [what, body, call, text] as const),
    ),
  )('%s: %s is an error that does not show the response', async (_what, _body, call, text) => {
    const { client, world } = await onServer((_, response) => void response.end(text))
    const failure = await failureOf(call(client))
    expect(wordsOf(failure)).not.toContain(SECRET)
    expect(wordsOf(failure)).toContain('no response as documented')
    expect(JSON.stringify(world.events)).not.toContain(SECRET)
  })

  it.each(['[]', '{}', '{"changes":{}}', '{"changes":null}'])(
    '%s is refused as a page of revisions',
    async (text) => {
      const { client } = await onServer((_, response) => void response.end(text))
      expect(await failureOf(client.controls.page())).toBeInstanceOf(BodyError)
    },
  )

  it('metrics that are not an array are refused in words', async () => {
    const { client } = await onServer(serving({ samples: [] }))
    const failure = await failureOf(client.computers.metrics('c'))
    expect(failure.message).toMatch(/: the response is not an array$/)
  })

  it.each([
    [302, '302 redirect, which is not followed: check the base URL or the app URL'],
    [404, '404 not found: check the base URL or the app URL'],
    [410, '410 refused by the server'],
    [501, '501 failure of the server'],
  ])('an error response %i without a Problem body is put into words', async (status, said) => {
    const { client } = await onServer(
      (_, response) => void response.writeHead(status).end(`<b>${SECRET}</b>`),
    )
    const failure = await failureOf(client.sessions.get('s'))
    expect(failure).toMatchObject({ status, problem: { title: null, detail: null } })
    expect(failure.message).toBe(`GET /api/v0/sessions/s: ${said}`)
    expect(wordsOf(failure)).not.toContain(SECRET)
  })

  const range = { startDate: '2026-03-01', endDate: '2026-03-01' }
  const lists: readonly [string, string, (client: ApiClient) => Promise<unknown>][] = [
    ['days', 'data', (client) => client.activity(range)],
    ['users', 'data', (client) => collect(client.users(range))],
    ['a page of revisions', 'changes', ({ controls }) => controls.page()],
    ['revisions', 'changes', ({ controls }) => collect(controls.history())],
    ['a page of reports', 'reports', ({ readiness }) => readiness.page()],
    ['reports', 'reports', ({ readiness }) => collect(readiness.reports())],
    ['computers', 'computers', ({ computers }) => computers.list()],
    ['samples', '', ({ computers }) => computers.metrics('c')],
  ]

  it.each(
    lists.flatMap(([what, key, call]) =>
      [null, 5, 'x', []].map((item) => [what, item, key, call] as const),
    ),
  )('%s: the item %j is refused', async (_what, item, key, call) => {
    const items = [{ date: '2026-03-01', revision: 1, reportId: 'r' }, item]
    const { client } = await onServer(serving(key === '' ? items : { [key]: items, meta: {} }))
    const failure = await failureOf(call(client))
    expect(failure).toBeInstanceOf(BodyError)
    expect(failure.message).toMatch(/^GET \/api\S+: item 2 of the response is .+, not an object$/)
  })

  it('the text of items that are not objects is passed on', async () => {
    const { client } = await onServer(serving({ reports: [null, 5] }))
    const [page] = await collect(client.readiness.fetchPages())
    expect(page?.items.map(({ text }) => text)).toEqual(['null', '5'])
  })

  it.each(['{}', '', '{"updated":null,"errors":null}'])(
    'limits of users that are answered with %j have empty lists',
    async (body) => {
      const { client } = await onServer((_, response) => void response.end(body))
      const result = await client.limits.setUsers([{ email: 'ada@acme.example', limit: 1 }])
      expect(result).toEqual({ updated: [], errors: [] })
    },
  )

  it('an empty body is accepted for DELETE and POST', async () => {
    const { client } = await onServer((_, response) => void response.writeHead(204).end())
    await client.computers.delete('c')
    await client.computers.restart('c')
  })
})

describe('pagination comes to an end', () => {
  const controls = (changes: readonly number[], pagination: unknown) => ({
    changes: changes.map((revision) => ({ revision, settings: {} })),
    pagination,
  })

  it.each([
    ['a repeated cursor', () => ({ hasMore: true, nextCursor: 'a' })],
    ['a cycle of cursors', (count: number) => ({ hasMore: true, nextCursor: `c${count % 3}` })],
    ['has_more without a cursor', () => ({ hasMore: true })],
    ['has_more with an empty cursor', () => ({ hasMore: true, nextCursor: '' })],
    ['has_more with a null cursor', () => ({ hasMore: true, nextCursor: null })],
  ])('controls: %s is an error that names the request', async (_, pagination) => {
    const { client, requests } = await onServer((_request, response, count) => {
      sendJson(response, 200, controls([100 - count], pagination(count)), { 'x-request-id': 'r-7' })
    })
    const failure = await failureOf(collect(client.controls.history()))
    expect(failure).toBeInstanceOf(ContradictionError)
    expect(failure.message).toContain('r-7')
    expect(requests.length).toBeLessThan(6)
  })

  it.each([
    ['null', { hasMore: null }],
    ['null, and so is the cursor', { hasMore: null, nextCursor: null }],
    ['absent', {}],
    ['absent with all of the pagination', undefined],
    ['absent, and the pagination is null', null],
  ])('controls: a page whose hasMore is %s is the last one', async (_, pagination) => {
    const { client, requests } = await onServer(serving(controls([1], pagination)))
    expect(await collect(client.controls.history())).toHaveLength(1)
    expect(requests).toHaveLength(1)
  })

  it('controls: where hasMore is null, a cursor leads to the next page', async () => {
    const { client } = await onServer((_request, response, count) => {
      const pagination = { hasMore: null, nextCursor: count === 1 ? 'a' : null }
      sendJson(response, 200, controls([3 - count], pagination))
    })
    const revisions = (await collect(client.controls.history())).map(({ revision }) => revision)
    expect(revisions).toEqual([2, 1])
  })

  it('controls: an empty page with a next one does not end the pagination', async () => {
    const { client } = await onServer((_request, response, count) => {
      const page = [
        controls([3], { hasMore: true, nextCursor: 'a' }),
        controls([], { hasMore: true, nextCursor: 'b' }),
        controls([2, 1], { hasMore: false }),
      ][count - 1]
      sendJson(response, 200, page)
    })
    const revisions = (await collect(client.controls.history())).map(({ revision }) => revision)
    expect(revisions).toEqual([3, 2, 1])
  })

  it('controls: a revision that moved to the next page is yielded once', async () => {
    const { client } = await onServer((_request, response, count) => {
      const [first, second] = [
        [3, 2],
        [2, 1],
      ].map((revisions, page) => controls(revisions, { hasMore: page === 0, nextCursor: 'a' }))
      sendJson(response, 200, count === 1 ? first : second)
    })
    const revisions = (await collect(client.controls.history())).map(({ revision }) => revision)
    expect(revisions).toEqual([3, 2, 1])
  })

  it('law 13: readiness: reports without an id that is text do not page for ever', async () => {
    const { client, requests } = await onServer(
      serving({ reports: [{ reportId: {} }, { reportId: 'r1' }] }),
    )
    const pages = await collect(client.readiness.fetchPages())
    expect([pages.length, requests.length]).toEqual([1, 2])
  })

  it('readiness: pages that shrink, overlap and repeat yield each report once', async () => {
    const pages: Readonly<Record<string, readonly string[]>> = {
      '': ['d', 'a', 'c'],
      c: ['c', 'b'],
      b: ['e'],
      e: ['a', 'e'],
    }
    const { client, requests } = await onServer((request, response) => {
      const after = new URL(request.url ?? '', 'http://x').searchParams.get('startAfter') ?? ''
      sendJson(response, 200, { reports: (pages[after] ?? []).map((reportId) => ({ reportId })) })
    })
    const ids = (await collect(client.readiness.reports())).map(({ reportId }) => reportId)
    expect(ids).toEqual(['d', 'a', 'c', 'b', 'e'])
    expect(requests).toHaveLength(4)
  })

  it('readiness: a platform that ignores startAfter gets one further request', async () => {
    const { client, requests } = await onServer(
      serving({ reports: [{ reportId: 'a' }, { reportId: 'b' }] }),
    )
    expect(await collect(client.readiness.reports({ limit: 2 }))).toHaveLength(2)
    expect(requests).toHaveLength(2)
  })
})

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}
