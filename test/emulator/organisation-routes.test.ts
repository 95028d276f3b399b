import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { DEMO_SECRETS } from '../../src/emulator/emulator.ts'
import { expectProblem, platform, type Asked } from './platform.ts'

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
  it('comes newest first, in pages that are smaller than asked, without a gap', async () => {
    const asked = await platform()
    const revisions = await walkControls(asked, 100)
    const newest = revisions[0] ?? 0
    expect(newest).toBeGreaterThan(25)
    expect(revisions).toEqual(Array.from({ length: newest }, (_, index) => newest - index))
    const first = controlsPage.parse((await asked.get(`${HISTORY}?limit=100`)).body)
    expect(first.changes).toHaveLength(25)
  })

  it('has 20 revisions a page unless asked, began before the analytics, and each differs', async () => {
    const asked = await platform()
    const page = controlsPage.parse((await asked.get(HISTORY)).body)
    expect(page.changes).toHaveLength(20)
    const texts = page.changes.map(({ settings }) => JSON.stringify(settings))
    for (const [index, text] of texts.slice(1).entries()) expect(text).not.toBe(texts[index])
    const last = controlsPage.parse((await asked.get(`${HISTORY}?cursor=after_2`)).body)
    expect(last.changes.map(({ updatedAt }) => updatedAt < '2026-01-14')).toEqual([true])
  })

  it('gains a revision now and then, and a cursor leads on from where it was', async () => {
    const asked = await platform()
    const before = controlsPage.parse((await asked.get(`${HISTORY}?limit=1`)).body)
    asked.advance(8 * DAY)
    const after = controlsPage.parse((await asked.get(`${HISTORY}?limit=1`)).body)
    const revision = before.changes[0]?.revision ?? 0
    expect(after.changes[0]?.revision).toBeGreaterThan(revision)
    const next = await asked.get(`${HISTORY}?limit=1&cursor=${before.pagination.nextCursor}`)
    expect(controlsPage.parse(next.body).changes[0]?.revision).toBe(revision - 1)
  })

  it.each(['limit=0', 'limit=101', 'limit=ten', 'limit=', 'cursor=nobody', 'cursor=after_9999'])(
    '%s is 400',
    async (query) => {
      const asked = await platform()
      expectProblem(await asked.get(`${HISTORY}?${query}`), 400)
    },
  )

  it('carries secrets under known and unknown names', async () => {
    const asked = await platform()
    const pages = await Promise.all([
      asked.get(HISTORY),
      asked.get(`${HISTORY}?cursor=after_12&limit=11`),
      asked.get('/api/v0/computers'),
      ...asked.emulator.sessionIds().map((id) => asked.get(`/api/v0/sessions/${id}`)),
      ...asked.emulator.sessionIds().flatMap((id) =>
        asked.emulator
          .messageIds(id)
          .slice(0, 4)
          .map((message) => asked.get(`/api/v0/sessions/${id}/messages/${message}`)),
      ),
    ])
    asked.advance(DAY)
    const text = JSON.stringify([...pages, await asked.get('/api/v0/computers')])
    expect(DEMO_SECRETS.filter((secret) => !text.includes(secret))).toEqual([])
  })
})

describe('limits of credits', () => {
  it('are read as the specification says, and change by themselves now and then', async () => {
    const asked = await platform()
    const before = limits.parse((await asked.get(USERS)).body)
    expect(before.userLimits).toHaveLength(3)
    asked.advance(10 * DAY)
    expect(limits.parse((await asked.get(USERS)).body)).not.toEqual(before)
  })

  it.each([1_000_000, 2_500_000, null])('a global limit of %s is set and stays', async (limit) => {
    const asked = await platform()
    expect((await asked.send('PUT', GLOBAL, { limit })).body).toEqual({ limit })
    asked.advance(90 * DAY)
    expect(limits.parse((await asked.get(USERS)).body).globalLimit).toBe(limit)
  })

  it.each([{ limit: 999_999 }, { limit: -1 }, { limit: 1e6 + 0.5 }, { limit: '1000000' }, {}, 7])(
    'a global limit of %j is 400',
    async (body) => {
      const asked = await platform()
      expectProblem(await asked.send('PUT', GLOBAL, body), 400)
    },
  )

  it('of users are set one by one: who is not known is in the errors of a 200', async () => {
    const asked = await platform()
    const known = limits.parse((await asked.get(USERS)).body).userLimits.map(({ email }) => email)
    const [first = '', second = ''] = known
    const users = [
      { email: first, limit: 7 },
      { email: 'nobody@acme.example', limit: 5 },
      { email: second, limit: null },
    ]
    const answer = await asked.send('PUT', USERS, { users })
    expect(answer).toMatchObject({
      status: 200,
      body: {
        updated: [users[0], users[2]],
        errors: [
          { email: 'nobody@acme.example', error: 'no user of the organisation has this e-mail' },
        ],
      },
    })
    const after = limits.parse((await asked.get(USERS)).body).userLimits
    expect(after).toContainEqual({ email: first, limit: 7 })
    expect(after.map(({ email }) => email)).not.toContain(second)
  })

  it.each([
    ['no user', []],
    ['101 users', Array.from({ length: 101 }, (_, n) => ({ email: `u${n}@x`, limit: 1 }))],
    ['a limit below zero', [{ email: 'a@x', limit: -1 }]],
    ['a limit that is not whole', [{ email: 'a@x', limit: 1.5 }]],
    ['no limit', [{ email: 'a@x' }]],
    ['no e-mail', [{ limit: 1 }]],
  ])('%s in a request is 400', async (_, users) => {
    const asked = await platform()
    expectProblem(await asked.send('PUT', USERS, { users }), 400)
  })

  it('a body that is no JSON is 400', async () => {
    const { emulator } = await platform()
    const response = await fetch(emulator.url + GLOBAL, {
      method: 'PUT',
      headers: { authorization: `Bearer ${emulator.keys.owner}` },
      body: '{"limit":',
    })
    expect(response.status).toBe(400)
  })

  it.each([GLOBAL, USERS])('%s is not set by members and guests', async (path) => {
    const asked = await platform()
    const { keys } = asked.emulator
    for (const key of [keys.member, keys.guest]) {
      expectProblem(await asked.send('PUT', path, { limit: null, users: [] }, key), 403)
    }
    const users = [{ email: 'nobody@acme.example', limit: 1 }]
    const body = path === GLOBAL ? { limit: null } : { users }
    expect((await asked.send('PUT', path, body, keys.manager)).status).toBe(200)
  })
})

describe('readiness reports', () => {
  it('are walked by the last id to an empty page, each once, in no order of time', async () => {
    const asked = await platform()
    const { reports, sizes } = await walkReadiness(asked, 'limit=10')
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

  it('a page has no more than 20, and new reports come with time', async () => {
    const asked = await platform()
    const before = await walkReadiness(asked, 'limit=1000')
    expect(Math.max(...before.sizes)).toBe(20)
    asked.advance(5 * DAY)
    const after = await walkReadiness(asked, '')
    expect(after.reports).toHaveLength(before.reports.length + 3)
  })

  it('repoId leaves those of one repository', async () => {
    const asked = await platform()
    const { reports } = await walkReadiness(asked, 'repoId=repo_api')
    expect(new Set(reports.map(({ repoUrl }) => repoUrl)).size).toBe(1)
    expect((await walkReadiness(asked, 'repoId=repo_none')).reports).toEqual([])
  })

  it.each(['limit=0', 'limit=-1', 'limit=x', 'startAfter=nobody'])('%s is 400', async (query) => {
    const asked = await platform()
    expectProblem(await asked.get(`${REPORTS}?${query}`), 400)
  })
})

describe('every resource', () => {
  it.each([HISTORY, USERS, REPORTS, '/api/v0/computers'])(
    '%s is read with any known key, and 401 without one',
    async (path) => {
      const asked = await platform()
      for (const key of Object.values(asked.emulator.keys)) {
        expect((await asked.get(path, key)).status).toBe(200)
      }
      expectProblem(await asked.get(path, 'unknown'), 401)
    },
  )

  it('is under the rate limit', async () => {
    const asked = await platform({ rate: 1, burst: 2 })
    const statuses = []
    for (const path of [HISTORY, REPORTS, '/api/v0/computers'])
      statuses.push((await asked.get(path)).status)
    expect(statuses).toEqual([200, 200, 429])
  })

  it('can be intercepted', async () => {
    const asked = await platform({
      intercept: ({ path }) =>
        path === REPORTS ? Response.json({ detail: 'broken' }, { status: 500 }) : undefined,
    })
    expect((await asked.get(REPORTS)).status).toBe(500)
    expect((await asked.get(USERS)).status).toBe(200)
  })
})

async function walkControls(asked: Asked, limit: number): Promise<number[]> {
  const revisions: number[] = []
  let cursor = ''
  for (;;) {
    const page = controlsPage.parse((await asked.get(`${HISTORY}?limit=${limit}${cursor}`)).body)
    revisions.push(...page.changes.map(({ revision }) => revision))
    if (!page.pagination.hasMore) return revisions
    cursor = `&cursor=${page.pagination.nextCursor}`
  }
}

async function walkReadiness(asked: Asked, query: string) {
  const reports: z.infer<typeof report>[] = []
  const sizes: number[] = []
  for (;;) {
    const last = reports.at(-1)
    const after = last === undefined ? '' : `&startAfter=${last.reportId}`
    const { body } = await asked.get(`${REPORTS}?${query}${after}`)
    const page = z.strictObject({ reports: z.array(report) }).parse(body).reports
    sizes.push(page.length)
    if (page.length === 0) return { reports, sizes }
    reports.push(...page)
  }
}
