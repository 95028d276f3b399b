import { describe, expect, it } from 'vitest'
import { ApiError, RefusedError } from '../../src/client/index.ts'
import { failureOf, onPlatform, onServer } from './support.ts'

const DAY = 86_400_000

/** Objects that JSON.stringify would spell in another way than they are served. */
const ODD = ['{ "limit":1e3 ,"big":9007199254740993}', '{"name":"\\u00e9\\/", "name":"\\t"}']

describe('client.controls', () => {
  it('page() fetches one page of the requested size, with settings as objects', async () => {
    const { client, emulator } = await onPlatform()
    const page = await client.controls.page({ limit: 3 })
    expect(page.changes).toHaveLength(3)
    expect(page.changes[0]?.settings).toHaveProperty('maxAutonomyLevel')
    expect(page.pagination?.hasMore).toBe(true)
    expect(pathsOf(emulator)).toEqual([
      'GET /api/v0/organization/enterprise-controls/history?limit=3',
    ])
  })

  it('page() continues from a cursor', async () => {
    const { client } = await onPlatform()
    const first = await client.controls.page({ limit: 3 })
    const cursor = first.pagination?.nextCursor ?? ''
    const second = await client.controls.page({ limit: 3, cursor })
    const revisions = [...first.changes, ...second.changes].map(({ revision }) => revision)
    const newest = revisions[0] ?? 0
    expect(revisions).toEqual([0, 1, 2, 3, 4, 5].map((back) => newest - back))
  })

  it('history() pages to the first revision, although pages are smaller than requested', async () => {
    const { client, emulator } = await onPlatform()
    const revisions: number[] = []
    for await (const { revision } of client.controls.history()) revisions.push(revision)
    expect(revisions.at(-1)).toBe(1)
    expect(revisions).toEqual(revisions.map((_, index) => revisions.length - index))
    expect(emulator.requests).toHaveLength(Math.ceil(revisions.length / 25))
  })

  it('fetchPage() gives each revision byte for byte as served', async () => {
    const served = ODD.map((text) => `{"revision":1, ${text.slice(1)}`)
    const { client } = await onServer((_, response) => {
      const body = `{"changes":[${served.join(' , ')}],"pagination":{"hasMore":false}}`
      response.writeHead(200, { 'x-request-id': 'req_1' }).end(body)
    })
    const { value, items, requestId } = await client.controls.fetchPage({ limit: 2 })
    expect(items.map(({ text }) => text)).toEqual(served)
    expect(value.changes).toEqual(served.map((text) => JSON.parse(text) as unknown))
    expect(requestId).toBe('req_1')
  })
})

describe('client.limits', () => {
  it('get(), setGlobal() and setUsers() read and set limits, with an error per failed user', async () => {
    const { client } = await onPlatform()
    const before = await client.limits.get()
    const [first, second] = before.userLimits
    expect(await client.limits.setGlobal(1_000_000)).toEqual({ limit: 1_000_000 })
    const result = await client.limits.setUsers([
      { email: first?.email ?? '', limit: null },
      { email: second?.email ?? '', limit: 42 },
      { email: 'nobody@acme.example', limit: 42 },
    ])
    expect(result.updated).toHaveLength(2)
    expect(result.errors.map(({ email }) => email)).toEqual(['nobody@acme.example'])
    const after = await client.limits.get()
    expect(after.globalLimit).toBe(1_000_000)
    expect(after.userLimits).toContainEqual({ email: second?.email, limit: 42 })
    expect(after.userLimits).toHaveLength(before.userLimits.length - 1)
  })

  it('setGlobal(null) removes the global limit', async () => {
    const { client } = await onPlatform()
    expect(await client.limits.setGlobal(null)).toEqual({ limit: null })
    expect((await client.limits.get()).globalLimit).toBeNull()
  })

  it('fetch() gives one item byte for byte as served', async () => {
    const [text = ''] = ODD
    const { client } = await onServer((_, response) => void response.end(text))
    const { value, items } = await client.limits.fetch()
    expect(items.map((item) => item.text)).toEqual([text])
    expect(value).toEqual(JSON.parse(text))
  })

  it.each(['member', 'guest'] as const)('setGlobal() is refused for a %s', async (role) => {
    const { client } = await onPlatform({}, role)
    expect(await failureOf(client.limits.setGlobal(null))).toBeInstanceOf(RefusedError)
    expect((await client.limits.get()).globalLimit).not.toBeUndefined()
  })
})

describe('client.readiness', () => {
  it('sends requests to the application host, and all other requests go to the API host', async () => {
    const { client, emulator } = await onPlatform()
    await client.readiness.page()
    await client.computers.list()
    await client.controls.page()
    await client.limits.get()
    await client.tools({ startDate: '2026-03-19', endDate: '2026-03-19' })
    const asked = emulator.requests.map(({ host, status }) => [host, status])
    expect(asked).toEqual([['app', 200], ...Array.from({ length: 4 }, () => ['api', 200])])
  })

  it('reports() yields every report once, whatever the page size', async () => {
    const { client } = await onPlatform()
    const counts = []
    for (const limit of [1, 7, 1000]) {
      const ids: string[] = []
      for await (const { reportId } of client.readiness.reports({ limit })) ids.push(reportId)
      expect(new Set(ids).size).toBe(ids.length)
      counts.push(ids.length)
    }
    expect(new Set(counts).size).toBe(1)
    expect(counts[0]).toBeGreaterThan(30)
  })

  it('reports() can be limited to a repository', async () => {
    const { client } = await onPlatform()
    const urls = new Set<string>()
    for await (const { repoUrl } of client.readiness.reports({ repoId: 'repo_web' }))
      urls.add(repoUrl)
    expect([...urls]).toEqual(['https://code.acme.example/acme/web'])
  })

  it('page() starts after a given report', async () => {
    const { client } = await onPlatform()
    const [first, second] = await client.readiness.page({ limit: 2 })
    const next = await client.readiness.page({ limit: 1, startAfter: first?.reportId ?? '' })
    expect(next).toEqual([second])
  })
})

describe('client.computers', () => {
  it('list(), get() and getByName() return the same computers', async () => {
    const { client } = await onPlatform()
    const computers = await client.computers.list()
    expect(computers).toHaveLength(4)
    for (const computer of computers) {
      expect(await client.computers.get(computer.id)).toEqual(computer)
      expect(await client.computers.getByName(computer.name)).toEqual(computer)
    }
  })

  it('list() shows computers go from provisioning to active or error', async () => {
    const { client, advance } = await onPlatform()
    const statuses = async () => (await client.computers.list()).map(({ status }) => status)
    expect(await statuses()).toEqual(['active', 'active', 'provisioning', 'provisioning'])
    advance(600_000)
    expect(await statuses()).toEqual(['active', 'active', 'active', 'error'])
  })

  it('installDependencies() fails with 409 while an install runs, and works again afterwards', async () => {
    const { client, advance } = await onPlatform()
    const id = (await client.computers.list())[0]?.id ?? ''
    const computer = await client.computers.installDependencies(id)
    const install = computer.provisioningSteps?.find((step) => step.id === 'install-deps')
    expect(install?.status).toBe('running')
    expect(await failureOf(client.computers.installDependencies(id))).toMatchObject({ status: 409 })
    expect((await client.sessions.get(install?.installSessionId ?? '')).status).toBe('running')
    advance(30_000)
    await client.computers.installDependencies(id)
  })

  it('refresh(), restart() and delete() change a computer', async () => {
    const { client } = await onPlatform()
    const id = (await client.computers.list())[0]?.id ?? ''
    expect(await client.computers.refresh(id)).toEqual({ configured: 2 })
    await client.computers.restart(id)
    await client.computers.delete(id)
    expect(await failureOf(client.computers.get(id))).toMatchObject({ status: 404 })
  })

  it('metrics() and fetchMetrics() take a start', async () => {
    const { client } = await onPlatform()
    const id = (await client.computers.list())[0]?.id ?? ''
    expect(await client.computers.metrics(id)).toHaveLength(288)
    const start = '2026-03-20T13:30:00.000+02:00'
    expect(await client.computers.metrics(id, { start })).toHaveLength(6)
    expect((await client.computers.fetchMetrics(id, { start })).value).toHaveLength(6)
  })

  it('fetchMetrics() gives each sample byte for byte as served', async () => {
    const { client } = await onServer((_, response) => {
      response.end(`[ ${ODD.join(' , ')}]`)
    })
    const { value, items } = await client.computers.fetchMetrics('c')
    expect(items.map(({ text }) => text)).toEqual(ODD)
    expect(value).toEqual(ODD.map((text) => JSON.parse(text) as unknown))
  })

  it.each([
    ['get', 404],
    ['delete', 404],
    ['refresh', 404],
    ['restart', 404],
    ['installDependencies', 404],
    ['metrics', 404],
    ['getByName', 404],
  ] as const)('%s() of an unknown computer fails with an ApiError %i', async (method, status) => {
    const { client } = await onPlatform()
    const failure = await failureOf(client.computers[method]('unknown'))
    expect(failure).toBeInstanceOf(ApiError)
    expect(failure).toMatchObject({ status })
    expect(failure.message).toContain('unknown')
  })
})

describe('client.sessions', () => {
  it('get() reads a session, also of a given computer, and update() changes it', async () => {
    const { client, emulator, advance } = await onPlatform()
    const id = emulator.sessionIds()[4] ?? ''
    const before = await client.sessions.get(id)
    advance(DAY)
    const computerId = before.computerId ?? ''
    expect(await client.sessions.get(id, { computerId })).toEqual(before)
    const after = await client.sessions.update(id, { archivedAt: '2026-03-21T00:00:00Z' })
    expect(after.sessionSettings?.archivedAt).toBe('2026-03-21T00:00:00Z')
    expect(after.sessionSettings?.tags).toEqual(before.sessionSettings?.tags)
    expect(after.updatedAt).toBe(Date.parse('2026-03-21T12:00:00Z'))
  })

  it('update() sends every setting that can be changed', async () => {
    const { client, emulator } = await onPlatform()
    const patch = {
      model: 'atlas-2',
      specModeModel: 'cobalt-1',
      providerLockTimestamp: '2026-03-01T00:00:00Z',
      assistantActiveTimeMs: 5,
      childInclusiveTokenUsageBySessionId: { child: { inputTokens: 1 } },
      archivedAt: '2026-03-02T00:00:00Z',
      tags: [{ name: 'a', metadata: { b: 1 } }],
      enabledToolIds: ['Read'],
      disabledToolIds: [],
    }
    const session = await client.sessions.update(emulator.sessionIds()[5] ?? '', patch)
    expect(session.sessionSettings).toMatchObject(patch)
  })

  it('interrupt() makes a running session idle, and leaves an idle one as it is', async () => {
    const { client, emulator } = await onPlatform()
    const [id = ''] = emulator.sessionIds()
    expect((await client.sessions.get(id)).status).toBe('running')
    await client.sessions.interrupt(id)
    const idle = await client.sessions.get(id)
    expect(idle.status).toBe('idle')
    await client.sessions.interrupt(id)
    expect(await client.sessions.get(id)).toEqual(idle)
  })

  it('interrupt() is refused where it is not enabled', async () => {
    const { client, emulator } = await onPlatform({ interrupt: false })
    const failure = await failureOf(client.sessions.interrupt(emulator.sessionIds()[0] ?? ''))
    expect(failure).toBeInstanceOf(RefusedError)
    expect(failure.message).toContain('not enabled')
  })

  it('fetchMessage() gives a message byte for byte as served', async () => {
    const [text = ''] = ODD
    const { client } = await onServer((_, response) => void response.end(text))
    const { value, items } = await client.sessions.fetchMessage('s', 'm')
    expect(items.map((item) => item.text)).toEqual([text])
    expect(value).toEqual(JSON.parse(text))
  })

  it('message() reads each message, also of a session on a given computer', async () => {
    const { client, emulator } = await onPlatform()
    const id = emulator.sessionIds()[2] ?? ''
    const computerId = (await client.sessions.get(id)).computerId ?? ''
    for (const messageId of emulator.messageIds(id)) {
      const message = await client.sessions.message(id, messageId)
      expect(message.id).toBe(messageId)
      expect(await client.sessions.message(id, messageId, { computerId })).toEqual(message)
    }
  })

  it('an unknown session or message fails with an ApiError 404', async () => {
    const { client, emulator } = await onPlatform()
    const [id = ''] = emulator.sessionIds()
    for (const call of [
      client.sessions.get('unknown'),
      client.sessions.update('unknown', {}),
      client.sessions.interrupt('unknown'),
      client.sessions.message(id, 'unknown'),
    ]) {
      expect(await failureOf(call)).toMatchObject({ status: 404 })
    }
  })
})

function pathsOf({ requests }: { requests: readonly { method: string; path: string }[] }) {
  return requests.map(({ method, path }) => `${method} ${path}`)
}
