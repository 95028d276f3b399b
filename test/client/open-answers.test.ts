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

describe('what the specification does not know passes through', () => {
  it('values of enums', async () => {
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

  it('properties, at any depth, and digits beyond 2^53 in the text', async () => {
    const text =
      '{"id":"c","name":"n","providerType":"moon-base","createdAt":9007199254740993,"orbit":{"km":1e3}}'
    const { client } = await onServer((_, response) => void response.end(`{"computers":[${text}]}`))
    const { value, items } = await client.computers.fetchAll()
    expect(value.computers[0]).toMatchObject({ providerType: 'moon-base', orbit: { km: 1000 } })
    expect(items[0]?.text).toBe(text)
  })

  it('blocks of content', async () => {
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

  it('settings, whatever they are called', async () => {
    const settings = { brandNew: { x: [null, true] }, maxAutonomyLevel: 'ludicrous' }
    const { client } = await onServer(
      serving({ changes: [{ revision: 1, settings }], pagination: { hasMore: false } }),
    )
    expect((await client.controls.page()).changes[0]?.settings).toEqual(settings)
  })
})

describe('what is no answer as documented', () => {
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
    ['half an answer', `{"changes":[{"apiKey":"${SECRET}"`],
    ['JSON of another kind', `"${SECRET}"`],
    ['broken JSON inside', `{"changes":[{"apiKey":${SECRET}}],"a":${SECRET}}`],
    ['bytes that are no text', `{"a":"\ud800${SECRET}"`],
    ['nothing else than a secret', SECRET],
  ]

  it.each(
    reads.flatMap(([what, call]) =>
      bodies.map(([body, text]) => [what, body, call, text] as const),
    ),
  )('%s: %s is an error that does not show it', async (_what, _body, call, text) => {
    const { client, world } = await onServer((_, response) => void response.end(text))
    const failure = await failureOf(call(client))
    expect(wordsOf(failure)).not.toContain(SECRET)
    expect(wordsOf(failure)).toContain('no answer as documented')
    expect(JSON.stringify(world.events)).not.toContain(SECRET)
  })

  it.each(['[]', '{}', '{"changes":{}}', '{"changes":null}'])(
    '%s is no page of revisions',
    async (text) => {
      const { client } = await onServer((_, response) => void response.end(text))
      expect(await failureOf(client.controls.page())).toBeInstanceOf(BodyError)
    },
  )

  it('an error that is no Problem body has the status alone', async () => {
    const { client } = await onServer(
      (_, response) => void response.writeHead(404).end(`<b>${SECRET}</b>`),
    )
    const failure = await failureOf(client.sessions.get('s'))
    expect(failure).toMatchObject({ status: 404, problem: { title: null, detail: null } })
    expect(wordsOf(failure)).not.toContain(SECRET)
  })

  it('no body at all is what DELETE and POST may answer', async () => {
    const { client } = await onServer((_, response) => void response.writeHead(204).end())
    await client.computers.delete('c')
    await client.computers.restart('c')
  })
})

describe('walks come to an end', () => {
  const controls = (changes: readonly number[], pagination: unknown) => ({
    changes: changes.map((revision) => ({ revision, settings: {} })),
    pagination,
  })

  it.each([
    ['the same cursor again', () => ({ hasMore: true, nextCursor: 'a' })],
    ['cursors in a ring', (count: number) => ({ hasMore: true, nextCursor: `c${count % 3}` })],
    ['more, but no cursor', () => ({ hasMore: true })],
    ['more, but an empty cursor', () => ({ hasMore: true, nextCursor: '' })],
    ['more, but a null cursor', () => ({ hasMore: true, nextCursor: null })],
  ])('controls: %s is an error with the request', async (_, pagination) => {
    const { client, requests } = await onServer((_request, response, count) => {
      sendJson(response, 200, controls([100 - count], pagination(count)), { 'x-request-id': 'r-7' })
    })
    const failure = await failureOf(collect(client.controls.history()))
    expect(failure).toBeInstanceOf(ContradictionError)
    expect(failure.message).toContain('r-7')
    expect(requests.length).toBeLessThan(6)
  })

  it('controls: an empty page with more behind it does not end the walk', async () => {
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

  it('readiness: pages that shrink, overlap and repeat end, each report once', async () => {
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

  it('readiness: a platform that does not know startAfter ends after one page more', async () => {
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
