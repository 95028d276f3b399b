import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { expectProblem, platform, type Asked } from './platform.ts'

const PATH = '/api/v0/computers'
const MINUTE = 60_000

const step = z.strictObject({
  id: z.string(),
  name: z.string(),
  status: z.string(),
  error: z.string().optional(),
  startedAt: z.number().optional(),
  completedAt: z.number().optional(),
  installSessionId: z.string().optional(),
})
const computer = z.strictObject({
  id: z.string(),
  name: z.string().min(1).max(63),
  providerType: z.enum(['byom', 'sandbox-provider']),
  createdAt: z.number(),
  hostId: z.uuid(),
  hostname: z.string(),
  status: z.enum(['provisioning', 'active', 'error']),
  provisioningSteps: z.array(step),
  relayClientUrl: z.url(),
  relayAgentUrl: z.url(),
  remoteUser: z.string(),
})
const sample = z.strictObject({
  timestamp: z.iso.datetime(),
  cpuUsedPct: z.number().min(0).max(100),
  cpuCount: z.number(),
  memUsed: z.number(),
  memTotal: z.number(),
  diskUsed: z.number(),
  diskTotal: z.number(),
})

describe('computers', () => {
  it('are provisioned by the clock: one becomes active, one ends in an error', async () => {
    const asked = await platform()
    expect((await listOf(asked)).map(({ status }) => status)).toEqual([
      'active',
      'active',
      'provisioning',
      'provisioning',
    ])
    asked.advance(10 * MINUTE)
    const later = await listOf(asked)
    expect(later.map(({ status }) => status)).toEqual(['active', 'active', 'active', 'error'])
    const failed = later[3]?.provisioningSteps.at(-1)
    expect(failed?.status).toBe('failed')
    expect(failed?.error).toContain('npm ci')
  })

  it('are found by id and by name, characters of paths in it included', async () => {
    const asked = await platform()
    for (const each of await listOf(asked)) {
      expect((await asked.get(`${PATH}/${each.id}`)).body).toEqual(each)
      expect((await asked.get(`${PATH}/name/${encodeURIComponent(each.name)}`)).body).toEqual(each)
    }
    expectProblem(await asked.get(`${PATH}/name/nobody`), 404)
    expectProblem(await asked.get(`${PATH}/name/${'x'.repeat(64)}`), 400)
  })

  it.each([
    ['GET', ''],
    ['DELETE', ''],
    ['GET', '/metrics'],
    ['POST', '/install-deps'],
    ['POST', '/refresh'],
    ['POST', '/restart'],
  ])('%s of an unknown computer%s is 404', async (method, action) => {
    const asked = await platform()
    expectProblem(await asked.send(method, `${PATH}/nobody${action}`), 404)
  })

  it('install-deps is 202, then 409 while it runs, then 202 again', async () => {
    const asked = await platform()
    const [{ id } = { id: '' }] = await listOf(asked)
    const install = `${PATH}/${id}/install-deps`
    const first = await asked.send('POST', install)
    expect(first.status).toBe(202)
    const sessionId = computer.parse(first.body).provisioningSteps.at(-1)?.installSessionId ?? ''
    expect((await asked.get(`/api/v0/sessions/${sessionId}`)).body).toMatchObject({
      status: 'running',
      computerId: id,
    })
    expectProblem(await asked.send('POST', install), 409)
    const during = computer.parse((await asked.get(`${PATH}/${id}`)).body)
    expect(during.provisioningSteps.at(-1)).toMatchObject({
      id: 'install-deps',
      status: 'running',
      installSessionId: sessionId,
    })
    asked.advance(30_000)
    expect((await asked.get(`/api/v0/sessions/${sessionId}`)).body).toMatchObject({
      status: 'idle',
    })
    const again = await asked.send('POST', install)
    expect(again.status).toBe(202)
    expect(computer.parse(again.body).provisioningSteps.at(-1)?.installSessionId).not.toBe(
      sessionId,
    )
  })

  it('an install that failed can be made again, and mends the computer', async () => {
    const asked = await platform()
    asked.advance(10 * MINUTE)
    const broken = (await listOf(asked))[3]
    const path = `${PATH}/${broken?.id ?? ''}`
    const answer = await asked.send('POST', `${path}/install-deps`)
    expect(computer.parse(answer.body).status).toBe('provisioning')
    asked.advance(30_000)
    expect(computer.parse((await asked.get(path)).body).status).toBe('active')
  })

  it('refresh says how many were configured, restart takes a while', async () => {
    const asked = await platform()
    const [{ id } = { id: '' }] = await listOf(asked)
    expect(await asked.send('POST', `${PATH}/${id}/refresh`)).toMatchObject({
      status: 200,
      body: { configured: 2 },
    })
    expect(await asked.send('POST', `${PATH}/${id}/restart`)).toMatchObject({
      status: 200,
      body: {},
    })
    expect((await listOf(asked))[0]?.status).toBe('provisioning')
    asked.advance(10_000)
    expect((await listOf(asked))[0]?.status).toBe('active')
  })

  it('one that is not managed cannot be restarted', async () => {
    const asked = await platform()
    const byom = (await listOf(asked)).find(({ providerType }) => providerType === 'byom')
    expectProblem(await asked.send('POST', `${PATH}/${byom?.id ?? ''}/restart`), 400)
  })

  it('one that is deleted is gone: 204 without a body, then 404', async () => {
    const asked = await platform()
    const [{ id } = { id: '' }] = await listOf(asked)
    const answer = await asked.send('DELETE', `${PATH}/${id}`)
    expect(answer).toMatchObject({ status: 204, body: undefined })
    expectProblem(await asked.send('DELETE', `${PATH}/${id}`), 404)
    expect((await listOf(asked)).map((each) => each.id)).not.toContain(id)
  })
})

describe('metrics', () => {
  it('are samples of the last day, five minutes apart or so, the same whenever asked', async () => {
    const asked = await platform()
    const [{ id } = { id: '' }] = await listOf(asked)
    const samples = await metricsOf(asked, id, '')
    expect(samples).toHaveLength(288)
    asked.advance(20 * MINUTE)
    const later = await metricsOf(asked, id, `?start=${samples[0]?.timestamp ?? ''}`)
    expect(later.slice(0, samples.length)).toEqual(samples)
    expect(later).toHaveLength(samples.length + 4)
  })

  it('begin at start, inclusive, in any zone', async () => {
    const asked = await platform()
    const [{ id } = { id: '' }] = await listOf(asked)
    const start = '2026-03-20T11:30:00Z'
    const samples = await metricsOf(asked, id, `?start=${start}`)
    expect(samples.every(({ timestamp }) => timestamp >= '2026-03-20T11:30')).toBe(true)
    const zoned = encodeURIComponent('2026-03-20T12:30:00+01:00')
    expect(await metricsOf(asked, id, `?start=${zoned}`)).toEqual(samples)
    expect(await metricsOf(asked, id, '?start=2026-03-21T00:00:00Z')).toEqual([])
  })

  it('there are none before a computer is active', async () => {
    const asked = await platform()
    const runner = (await listOf(asked))[2]
    expect(await metricsOf(asked, runner?.id ?? '', '')).toEqual([])
    asked.advance(20 * MINUTE)
    expect((await metricsOf(asked, runner?.id ?? '', '')).length).toBeGreaterThan(1)
  })

  it.each(['yesterday', '', '2026-13-45T00:00:00Z', '2026-03-01'])(
    'start=%s is 400',
    async (start) => {
      const asked = await platform()
      const [{ id } = { id: '' }] = await listOf(asked)
      expectProblem(await asked.get(`${PATH}/${id}/metrics?start=${start}`), 400)
    },
  )
})

async function listOf(asked: Asked): Promise<z.infer<typeof computer>[]> {
  const { body } = await asked.get(PATH)
  return z.strictObject({ computers: z.array(computer) }).parse(body).computers
}

async function metricsOf(asked: Asked, id: string, query: string) {
  return z.array(sample).parse((await asked.get(`${PATH}/${id}/metrics${query}`)).body)
}
