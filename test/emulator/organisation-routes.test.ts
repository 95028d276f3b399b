import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { DEMO_SECRETS } from '../../src/emulator/emulator.ts'
import { expectProblem, platform, type Client } from './platform.ts'

const HISTORY = '/api/v0/organization/enterprise-controls/history'
const GLOBAL = '/api/v0/organization/usage/limits/global'
const USERS = '/api/v0/organization/usage/limits/users'
const REPORTS = '/api/organization/maturity-level-reports'
const DAY = 86_400_000

const change = z.strictObject({
  revision: z.int(),
  settings: z.record(z.string(), z.unknown()),
  user: z.strictObject({ id: z.string(), email: z.string(), name: z.string() }),
  updatedAt: z.iso.datetime(),
})
const controlsPage = z.strictObject({
  changes: z.array(change),
  pagination: z.strictObject({ hasMore: z.boolean(), nextCursor: z.string() }),
})
const limits = z.strictObject({
  globalLimit: z.int().nullable(),
  userLimits: z.array(z.strictObject({ email: z.string(), limit: z.int().nullable() })),
})
const report = z.strictObject({
  reportId: z.uuid(),
  createdAt: z.int(),
  repoUrl: z.url(),
  apps: z.record(z.string(), z.strictObject({ description: z.string() })),
  report: z.record(
    z.string(),
    z.strictObject({
      numerator: z.number().nullable(),
      denominator: z.number().min(1),
      rationale: z.string(),
    }),
  ),
  commitHash: z.string().optional(),
  branch: z.string().optional(),
  hasLocalChanges: z.boolean().optional(),
  hasNonRemoteCommits: z.boolean().optional(),
  modelUsed: z
    .strictObject({ id: z.string(), reasoningEffort: z.enum(['low', 'medium', 'high', 'off']) })
    .optional(),
  agentVersion: z.string().optional(),
})

describe('the history of controls', () => {
  it('comes newest first, in pages smaller than requested, without a gap', async () => {
    const client = await platform()
    const revisions = await allRevisions(client, 100)
    const newest = revisions[0] ?? 0
    expect(newest).toBeGreaterThan(25)
    expect(revisions).toEqual(Array.from({ length: newest }, (_, index) => newest - index))
    const first = controlsPage.parse((await client.get(`${HISTORY}?limit=100`)).body)
    expect(first.changes).toHaveLength(25)
  })

  it('has 20 revisions a page by default, starts before the analytics, and each revision differs', async () => {
    const client = await platform()
    const page = controlsPage.parse((await client.get(HISTORY)).body)
    expect(page.changes).toHaveLength(20)
    const texts = page.changes.map(({ settings }) => JSON.stringify(settings))
    for (const [index, text] of texts.slice(1).entries()) expect(text).not.toBe(texts[index])
    const last = controlsPage.parse((await client.get(`${HISTORY}?cursor=after_2`)).body)
    expect(last.changes.map(({ updatedAt }) => updatedAt < '2026-01-14')).toEqual([true])
  })

  it('gains revisions as the clock advances, and a cursor continues from its place', async () => {
    const client = await platform()
    const before = controlsPage.parse((await client.get(`${HISTORY}?limit=1`)).body)
    client.advance(8 * DAY)
    const after = controlsPage.parse((await client.get(`${HISTORY}?limit=1`)).body)
    const revision = before.changes[0]?.revision ?? 0
    expect(after.changes[0]?.revision).toBeGreaterThan(revision)
    const next = await client.get(`${HISTORY}?limit=1&cursor=${before.pagination.nextCursor}`)
    expect(controlsPage.parse(next.body).changes[0]?.revision).toBe(revision - 1)
  })

  it.each(['limit=0', 'limit=101', 'limit=ten', 'limit=', 'cursor=unknown', 'cursor=after_9999'])(
    'with %s gets a 400',
    async (query) => {
      const client = await platform()
      expectProblem(await client.get(`${HISTORY}?${query}`), 400)
    },
  )

  it('contains secrets under known and unknown names', async () => {
    const client = await platform()
    const pages = await Promise.all([
      client.get(HISTORY),
      client.get(`${HISTORY}?cursor=after_12&limit=11`),
      client.get('/api/v0/computers'),
      ...client.emulator.sessionIds().map((id) => client.get(`/api/v0/sessions/${id}`)),
      ...client.emulator.sessionIds().flatMap((id) =>
        client.emulator
          .messageIds(id)
          .slice(0, 4)
          .map((message) => client.get(`/api/v0/sessions/${id}/messages/${message}`)),
      ),
    ])
    client.advance(DAY)
    const text = JSON.stringify([...pages, await client.get('/api/v0/computers')])
    expect(DEMO_SECRETS.filter((secret) => !text.includes(secret))).toEqual([])
  })
})

describe('credit limits', () => {
  it('have the specified form, and change as the clock advances', async () => {
    const client = await platform()
    const before = limits.parse((await client.get(USERS)).body)
    expect(before.userLimits).toHaveLength(3)
    client.advance(10 * DAY)
    expect(limits.parse((await client.get(USERS)).body)).not.toEqual(before)
  })

  it.each([1_000_000, 2_500_000, null])(
    'keep a global limit of %s once it is set',
    async (limit) => {
      const client = await platform()
      expect((await client.send('PUT', GLOBAL, { limit })).body).toEqual({ limit })
      client.advance(90 * DAY)
      expect(limits.parse((await client.get(USERS)).body).globalLimit).toBe(limit)
    },
  )

  it.each([{ limit: 999_999 }, { limit: -1 }, { limit: 1e6 + 0.5 }, { limit: '1000000' }, {}, 7])(
    'get a 400 for a global limit of %j',
    async (body) => {
      const client = await platform()
      expectProblem(await client.send('PUT', GLOBAL, body), 400)
    },
  )

  it('of users are set one by one, with unknown users in the errors of a 200', async () => {
    const client = await platform()
    const known = limits.parse((await client.get(USERS)).body).userLimits.map(({ email }) => email)
    const [first = '', second = ''] = known
    const users = [
      { email: first, limit: 7 },
      { email: 'unknown@acme.example', limit: 5 },
      { email: second, limit: null },
    ]
    const answer = await client.send('PUT', USERS, { users })
    expect(answer).toMatchObject({
      status: 200,
      body: {
        updated: [users[0], users[2]],
        errors: [
          { email: 'unknown@acme.example', error: 'no user of the organisation has this e-mail' },
        ],
      },
    })
    const after = limits.parse((await client.get(USERS)).body).userLimits
    expect(after).toContainEqual({ email: first, limit: 7 })
    expect(after.map(({ email }) => email)).not.toContain(second)
  })

  it.each([
    ['an empty list of users', []],
    ['101 users', Array.from({ length: 101 }, (_, n) => ({ email: `u${n}@x`, limit: 1 }))],
    ['a limit below zero', [{ email: 'a@x', limit: -1 }]],
    ['a limit that is not whole', [{ email: 'a@x', limit: 1.5 }]],
    ['a user without a limit', [{ email: 'a@x' }]],
    ['a user without an e-mail address', [{ limit: 1 }]],
  ])('get a 400 for %s', async (_, users) => {
    const client = await platform()
    expectProblem(await client.send('PUT', USERS, { users }), 400)
  })

  it('get a 400 for a body that is not JSON', async () => {
    const { emulator } = await platform()
    const response = await fetch(emulator.url + GLOBAL, {
      method: 'PUT',
      headers: { authorization: `Bearer ${emulator.keys.owner}` },
      body: '{"limit":',
    })
    expect(response.status).toBe(400)
  })

  it.each([GLOBAL, USERS])('at %s cannot be set by members and guests', async (path) => {
    const client = await platform()
    const { keys } = client.emulator
    for (const key of [keys.member, keys.guest]) {
      expectProblem(await client.send('PUT', path, { limit: null, users: [] }, key), 403)
    }
    const users = [{ email: 'unknown@acme.example', limit: 1 }]
    const body = path === GLOBAL ? { limit: null } : { users }
    expect((await client.send('PUT', path, body, keys.manager)).status).toBe(200)
  })
})

describe('readiness reports', () => {
  it('are paged by the last id up to an empty page, each once, not ordered by time', async () => {
    const client = await platform()
    const { reports, sizes } = await allReports(client, 'limit=10')
    expect(new Set(reports.map(({ reportId }) => reportId)).size).toBe(reports.length)
    const times = reports.map(({ createdAt }) => createdAt)
    expect(times).not.toEqual([...times].sort((a, b) => a - b))
    expect(times).not.toEqual([...times].sort((a, b) => b - a))
    expect(Math.min(...sizes.slice(0, -1))).toBeLessThan(10)
    const numerators = reports.flatMap((each) => Object.values(each.report))
    expect(numerators.some(({ numerator }) => numerator === null)).toBe(true)
    expect(reports.some(({ commitHash }) => commitHash === undefined)).toBe(true)
    expect(reports.some(({ commitHash }) => commitHash !== undefined)).toBe(true)
  })

  it('come in pages of at most 20, and grow as the clock advances', async () => {
    const client = await platform()
    const before = await allReports(client, 'limit=1000')
    expect(Math.max(...before.sizes)).toBe(20)
    client.advance(5 * DAY)
    const after = await allReports(client, '')
    expect(after.reports).toHaveLength(before.reports.length + 3)
  })

  it('can be filtered by repoId', async () => {
    const client = await platform()
    const { reports } = await allReports(client, 'repoId=repo_api')
    expect(new Set(reports.map(({ repoUrl }) => repoUrl)).size).toBe(1)
    expect((await allReports(client, 'repoId=repo_none')).reports).toEqual([])
  })

  it.each(['limit=0', 'limit=-1', 'limit=x', 'startAfter=unknown'])(
    'get a 400 for %s',
    async (query) => {
      const client = await platform()
      expectProblem(await client.get(`${REPORTS}?${query}`), 400)
    },
  )
})

describe('every entity resource', () => {
  it.each([HISTORY, USERS, REPORTS, '/api/v0/computers'])(
    '%s accepts any known key, and an unknown one gets a 401',
    async (path) => {
      const client = await platform()
      for (const key of Object.values(client.emulator.keys)) {
        expect((await client.get(path, key)).status).toBe(200)
      }
      expectProblem(await client.get(path, 'unknown'), 401)
    },
  )

  it('counts against the rate limit', async () => {
    const client = await platform({ rate: 1, burst: 2 })
    const statuses = []
    for (const path of [HISTORY, REPORTS, '/api/v0/computers'])
      statuses.push((await client.get(path)).status)
    expect(statuses).toEqual([200, 200, 429])
  })

  it('can be intercepted', async () => {
    const client = await platform({
      intercept: ({ path }) =>
        path === REPORTS ? Response.json({ detail: 'broken' }, { status: 500 }) : undefined,
    })
    expect((await client.get(REPORTS)).status).toBe(500)
    expect((await client.get(USERS)).status).toBe(200)
  })
})

async function allRevisions(client: Client, limit: number): Promise<number[]> {
  const revisions: number[] = []
  let cursor = ''
  for (;;) {
    const page = controlsPage.parse((await client.get(`${HISTORY}?limit=${limit}${cursor}`)).body)
    revisions.push(...page.changes.map(({ revision }) => revision))
    if (!page.pagination.hasMore) return revisions
    cursor = `&cursor=${page.pagination.nextCursor}`
  }
}

async function allReports(client: Client, query: string) {
  const reports: z.infer<typeof report>[] = []
  const sizes: number[] = []
  for (;;) {
    const last = reports.at(-1)
    const after = last === undefined ? '' : `&startAfter=${last.reportId}`
    const { body } = await client.get(`${REPORTS}?${query}${after}`)
    const page = z.strictObject({ reports: z.array(report) }).parse(body).reports
    sizes.push(page.length)
    if (page.length === 0) return { reports, sizes }
    reports.push(...page)
  }
}
