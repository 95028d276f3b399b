import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { EntityResource } from '../../src/lake/resources.ts'
import { entityRows } from '../../src/lake/intervals.ts'
import { writeAtomic } from '../../src/lib/files.ts'
import { temporaryFolder, testWorld } from '../support/helpers.ts'
import { DAY, landed, night, NIGHT, platform } from './entities-night.ts'
import { ledgerOf, syncFrom } from './platform.ts'

/** The path of each resource. */
const PATHS: readonly (readonly [EntityResource, RegExp])[] = [
  ['enterprise_controls', /enterprise-controls/],
  ['usage_limits', /usage\/limits/],
  ['readiness_reports', /maturity-level-reports/],
  ['computers', /\/computers$/],
  ['computer_metrics', /\/metrics$/],
  ['sessions', /\/sessions\//],
]
const ALL = PATHS.map(([resource]) => resource)

const failing = (status: number, path: RegExp) => ({
  intercept: (request: { readonly path: string }) =>
    path.test(request.path)
      ? new Response(JSON.stringify({ title: 'No', detail: 'not today', status }), { status })
      : undefined,
})

async function statesOf(data: string): Promise<Record<string, string>> {
  const rows = entityRows('org_demo', await ledgerOf(data, 'org_demo'))
  return Object.fromEntries(rows.map(({ resource, day, status }) => [`${resource} ${day}`, status]))
}

describe.each(PATHS)('%s that cannot be fetched', (resource, path) => {
  // samples and sessions are found through the list of computers
  const found: readonly string[] = resource === 'computers' ? ['computer_metrics', 'sessions'] : []
  const others = ALL.filter((name) => name !== resource && !found.includes(name))

  it('because of a 500 fails for this night, and other resources land', async () => {
    const [emulator, data] = [await platform(failing(500, path)), await temporaryFolder()]
    const { result, problems } = await night(emulator, data)
    expect(result).toMatchObject({ failed: resource === 'computers' ? 2 : 1, stoppedBy: null })
    const states = await statesOf(data)
    expect(states[`${resource} 2026-03-10`]).toBe('failed')
    for (const other of others) expect(states[`${other} 2026-03-10`], other).toBe('landed')
    expect(problems[0]).toMatch(new RegExp(`^${resource}: GET /.*: 500`))
  })

  it('because of a 403 from the first night on is reported and recorded, and is no failure', async () => {
    const [emulator, data] = [await platform(failing(403, path)), await temporaryFolder()]
    const { result, problems } = await night(emulator, data)
    expect(result).toMatchObject({ failed: 0, stoppedBy: null })
    expect(problems.filter((line) => line.includes('not available for org_demo'))).toHaveLength(1)
    const ledger = await ledgerOf(data, 'org_demo')
    expect(ledger.get(`${resource}/2026-03-10`)).toMatchObject({ status: 'failed' })
    expect(ledger.get(`${resource}/2026-03-10`)?.error).toContain('403')
    for (const other of others)
      expect(ledger.get(`${other}/2026-03-10`)?.status, other).toBe('landed')
  })
})

it('a resource that is never granted is reported once for each reason, and has one interval', async () => {
  let status = 500
  const emulator = await platform({
    intercept: ({ path }) =>
      path.includes('usage/limits') ? new Response('{}', { status }) : undefined,
  })
  const data = await temporaryFolder()
  const only: readonly EntityResource[] = ['usage_limits']
  const reported: string[] = []
  for (const [count, answer] of [500, 403, 403, 403, 404, 404].entries()) {
    status = answer
    const { problems } = await night(emulator, data, { only, now: NIGHT + count * DAY })
    reported.push(problems.join().split(' ', 1).join())
  }
  expect(reported).toEqual(['usage_limits:', 'not', '', '', 'not', ''])
  const rows = entityRows('org_demo', await ledgerOf(data, 'org_demo'))
  expect(rows).toMatchObject([{ day: '2026-03-15', status: 'failed', isRecoverable: true }])
})

it('nights before a resource was granted are not missed', async () => {
  let isGranted = false
  const emulator = await platform({
    intercept: ({ path }) =>
      !isGranted && path.endsWith('/computers') ? new Response('{}', { status: 403 }) : undefined,
  })
  const data = await temporaryFolder()
  const only: readonly EntityResource[] = ['computers']
  for (let count = 0; count < 4; count += 1) {
    isGranted = count > 1
    await night(emulator, data, { only, now: NIGHT + count * DAY })
  }
  const rows = entityRows('org_demo', await ledgerOf(data, 'org_demo'))
  expect(rows.map(({ day, status }) => [day, status])).toEqual([
    ['2026-03-12', 'landed'],
    ['2026-03-13', 'landed'],
  ])
})

it('a 403 of a resource that the user named is a failure', async () => {
  const [emulator, data] = [await platform(failing(403, /\/computers$/)), await temporaryFolder()]
  const { result } = await night(emulator, data, {
    only: ['computers'],
    entities: { areNamed: true },
  })
  expect(result).toMatchObject({ failed: 1, landed: 0 })
})

it.each([403, 404])(
  'a %i of a resource that has landed before is a failure, until it lands again',
  async (status) => {
    let isGone = false
    const emulator = await platform({
      intercept: ({ path }) =>
        isGone && path.includes('enterprise-controls') ? new Response('{}', { status }) : undefined,
    })
    const data = await temporaryFolder()
    const only: readonly EntityResource[] = ['enterprise_controls']
    await night(emulator, data, { only })
    isGone = true
    const second = await night(emulator, data, { only, now: NIGHT + DAY })
    expect(second.result.failed).toBe(1)
    expect(await statesOf(data)).toMatchObject({ 'enterprise_controls 2026-03-11': 'failed' })
    isGone = false
    await night(emulator, data, { only, now: NIGHT + 2 * DAY })
    expect(Object.keys(await statesOf(data))).toEqual([
      'enterprise_controls 2026-03-10',
      'enterprise_controls 2026-03-12',
    ])
  },
)

it('limits of a failed night stay missing, because a later night cannot fetch them', async () => {
  let isDown = false
  const emulator = await platform({
    intercept: ({ path }) =>
      isDown && path.includes('usage/limits') ? new Response('{}', { status: 500 }) : undefined,
  })
  const data = await temporaryFolder()
  const only: readonly EntityResource[] = ['usage_limits']
  await night(emulator, data, { only })
  isDown = true
  await night(emulator, data, { only, now: NIGHT + DAY })
  isDown = false
  await night(emulator, data, { only, now: NIGHT + 2 * DAY })
  const rows = entityRows('org_demo', await ledgerOf(data, 'org_demo'))
  expect(rows.map(({ day, status, isRecoverable }) => [day, status, isRecoverable])).toEqual([
    ['2026-03-10', 'landed', true],
    ['2026-03-11', 'failed', false],
    ['2026-03-12', 'landed', true],
  ])
})

it('controls land nothing when a later page fails', async () => {
  const emulator = await platform({
    intercept: ({ path, query }) =>
      path.includes('enterprise-controls') && query.get('cursor') === 'next'
        ? new Response('{}', { status: 500 })
        : path.includes('enterprise-controls')
          ? Response.json({
              changes: [{ revision: 9, settings: {} }],
              pagination: { hasMore: true, nextCursor: 'next' },
            })
          : undefined,
  })
  const data = await temporaryFolder()
  const { result } = await night(emulator, data, { only: ['enterprise_controls'] })
  expect(result.failed).toBe(1)
  expect(await landed(data, 'enterprise_controls')).toEqual({})
})

describe('one computer', () => {
  const only: readonly EntityResource[] = ['computers', 'computer_metrics']
  const computerOf = (path: string): string => path.split('/')[4] ?? ''

  async function withFailing(status: number) {
    const failed = new Set<string>()
    const emulator = await platform({
      intercept: ({ path }) => {
        if (!path.endsWith('/metrics')) return undefined
        if (failed.size === 0) failed.add(computerOf(path))
        return failed.has(computerOf(path)) ? new Response('{}', { status }) : undefined
      },
    })
    const data = await temporaryFolder()
    const done = await night(emulator, data, { only })
    return { ...done, data, samples: (await landed(data, 'computer_metrics'))['2026-03-10'] ?? [] }
  }

  it('that fails is recorded as an error, and the samples of the others land', async () => {
    const { result, samples, data } = await withFailing(500)
    expect(samples.length).toBeGreaterThan(0)
    expect(result.failed).toBe(1)
    const interval = (await ledgerOf(data, 'org_demo')).get('computer_metrics/2026-03-10')
    expect(interval).toMatchObject({ status: 'landed', rowCount: samples.length })
    expect(interval?.error).toContain('500')
  })

  it('can have more samples in one response than a call has room for arguments', async () => {
    const many = Array.from({ length: 150_000 }, (_, at) => ({ timestamp: at }))
    let isFirst = true
    const emulator = await platform({
      intercept: ({ path }) => {
        if (!path.endsWith('/metrics') || !isFirst) return undefined
        isFirst = false
        return Response.json(many)
      },
    })
    const data = await temporaryFolder()
    const { result, problems } = await night(emulator, data, { only })
    expect([result.failed, problems]).toEqual([0, []])
    const samples = (await landed(data, 'computer_metrics'))['2026-03-10'] ?? []
    expect(samples.length).toBeGreaterThan(150_000)
  })

  it('that was deleted since the list was fetched is no failure', async () => {
    const { result, samples, problems } = await withFailing(404)
    expect(samples.length).toBeGreaterThan(0)
    expect([result.failed, problems]).toEqual([0, []])
  })
})

it('a night lands despite responses of unexpected shapes', async () => {
  const odd = { id: '', sessionSettings: { childInclusiveTokenUsageBySessionId: 'x' } }
  const emulator = await platform({
    intercept: ({ path }) => {
      if (path.endsWith('/computers'))
        return Response.json({ computers: [null, 1, {}, odd, { id: '..' }] })
      if (path.includes('/sessions/')) return Response.json(odd)
      if (path.includes('maturity')) return Response.json({ reports: [{}, { reportId: 7 }] })
      if (path.includes('controls'))
        return Response.json({ changes: [{}, { revision: null }, []], pagination: {} })
      return undefined
    },
  })
  const data = await temporaryFolder()
  const { result } = await night(emulator, data, { entities: { sessions: ['a'] } })
  expect(result).toMatchObject({ failed: 0, stoppedBy: null })
  await night(emulator, data, { now: NIGHT + DAY })
  expect((await landed(data, 'enterprise_controls'))['2026-03-11']).toEqual([])
})

it('an unreachable platform is recorded as a failure of the resources that have landed before', async () => {
  const [emulator, data] = [await platform(), await temporaryFolder()]
  await night(emulator, data, { only: ['usage_limits'] })
  const dead = { ...emulator, url: 'http://127.0.0.1:1' }
  const { result } = await night(dead, data, { now: NIGHT + DAY })
  expect(result.unreachable).not.toBeNull()
  expect(await statesOf(data)).toEqual({
    'usage_limits 2026-03-10': 'landed',
    'usage_limits 2026-03-11': 'failed',
  })
})

it('law 10: a wait that the platform asks for beyond the end of the run defers the run, and what has landed is kept', async () => {
  const emulator = await platform({
    intercept: ({ path }) =>
      path.includes('maturity-level')
        ? new Response('{}', { status: 429, headers: { 'retry-after': '90000' } })
        : undefined,
  })
  const data = await temporaryFolder()
  const { result } = await night(emulator, data)
  expect(result.stoppedBy?.exitCode).toBe(4)
  expect(Object.keys(await statesOf(data))).toEqual([
    'enterprise_controls 2026-03-10',
    'usage_limits 2026-03-10',
  ])
})

it.each([
  ['sessions', /\/sessions\/many-\d+$/],
  ['computer_metrics', /\/computers\/many-\d+\/metrics/],
] as const)('what was received of %s lands when the run is stopped', async (resource, path) => {
  const ids = Array.from({ length: 40 }, (_, index) => `many-${index}`)
  let served = 0
  const emulator = await platform({
    intercept: (request) => {
      if (request.path.endsWith('/computers'))
        return Response.json({ computers: ids.map((id) => ({ id })) })
      if (!path.test(request.path)) return undefined
      if (served === 10)
        return new Response('{}', { status: 429, headers: { 'retry-after': '90000' } })
      served += 1
      const sessionId = request.path.split('/').at(-1)
      const timestamp = '2026-03-10T01:00:00Z'
      return Response.json(resource === 'sessions' ? { sessionId } : [{ timestamp }])
    },
  })
  const data = await temporaryFolder()
  const entities = { sessions: ids }
  const { result } = await night(emulator, data, { only: ['computers', resource], entities })
  expect(result.stoppedBy?.exitCode).toBe(4)
  expect((await landed(data, resource))['2026-03-10']).toHaveLength(10)
})

it('sessions that keep failing do not keep the others from being requested', async () => {
  const bad = Array.from({ length: 20 }, (_, index) => `bad-${index}`)
  const good = Array.from({ length: 10 }, (_, index) => `good-${index}`)
  const emulator = await platform({
    intercept: ({ path }) => {
      const sessionId = /\/sessions\/([^/]+)$/.exec(path)?.[1]
      if (sessionId?.startsWith('bad') === true) return new Response('{}', { status: 500 })
      return sessionId === undefined ? undefined : Response.json({ sessionId, status: 'idle' })
    },
  })
  const data = await temporaryFolder()
  await writeAtomic(join(data, 'seeds/sessions.csv'), ['session_id', ...bad, ...good].join('\n'))
  for (let count = 0; count < 4; count += 1)
    await night(emulator, data, { only: ['sessions'], now: NIGHT + count * DAY })
  const items = Object.values(await landed(data, 'sessions'))
    .flat()
    .join()
  for (const sessionId of good) expect(items).toContain(`"${sessionId}"`)
})

it('a refused key stops everything', async () => {
  const [emulator, data] = [await platform(failing(401, /usage\/limits/)), await temporaryFolder()]
  const { result } = await night(emulator, data)
  expect(result.stoppedBy?.exitCode).toBe(5)
  expect(Object.keys(await statesOf(data))).toEqual(['enterprise_controls 2026-03-10'])
})

it('limits land although the time runs out before all days have, because they cannot be requested later', async () => {
  const world = testWorld(NIGHT)
  const { url, keys } = await platform({ now: world.now, rate: 1 })
  const data = await temporaryFolder()
  const { result } = await syncFrom(url, data, {
    key: keys.manager,
    world,
    runForMs: 30_000,
    entities: { resources: ['usage_limits'] },
  })
  expect(result.stoppedBy?.exitCode).toBe(4)
  expect(await statesOf(data)).toEqual({ 'usage_limits 2026-03-10': 'landed' })
})
