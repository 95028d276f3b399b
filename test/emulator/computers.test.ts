import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { expectProblem, platform, type Client } from './platform.ts'

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
  it('are provisioned as the clock advances: one becomes active, one ends in an error', async () => {
    const client = await platform()
    expect((await listOf(client)).map(({ status }) => status)).toEqual([
      'active',
      'active',
      'provisioning',
      'provisioning',
    ])
    client.advance(10 * MINUTE)
    const later = await listOf(client)
    expect(later.map(({ status }) => status)).toEqual(['active', 'active', 'active', 'error'])
    const failed = later[3]?.provisioningSteps.at(-1)
    expect(failed?.status).toBe('failed')
    expect(failed?.error).toContain('npm ci')
  })

  it('are found by id and by name, also when a name has path characters', async () => {
    const client = await platform()
    for (const each of await listOf(client)) {
      expect((await client.get(`${PATH}/${each.id}`)).body).toEqual(each)
      expect((await client.get(`${PATH}/name/${encodeURIComponent(each.name)}`)).body).toEqual(each)
    }
    expectProblem(await client.get(`${PATH}/name/unknown`), 404)
    expectProblem(await client.get(`${PATH}/name/${'x'.repeat(64)}`), 400)
  })

  it.each([
    ['GET', ''],
    ['DELETE', ''],
    ['GET', '/metrics'],
    ['POST', '/install-deps'],
    ['POST', '/refresh'],
    ['POST', '/restart'],
  ])('%s of an unknown computer%s gets a 404', async (method, action) => {
    const client = await platform()
    expectProblem(await client.send(method, `${PATH}/unknown${action}`), 404)
  })

  it('install-deps gets a 202, a 409 while it runs, and a 202 afterwards', async () => {
    const client = await platform()
    const [{ id } = { id: '' }] = await listOf(client)
    const install = `${PATH}/${id}/install-deps`
    const first = await client.send('POST', install)
    expect(first.status).toBe(202)
    const sessionId = computer.parse(first.body).provisioningSteps.at(-1)?.installSessionId ?? ''
    expect((await client.get(`/api/v0/sessions/${sessionId}`)).body).toMatchObject({
      status: 'running',
      computerId: id,
    })
    expectProblem(await client.send('POST', install), 409)
    const during = computer.parse((await client.get(`${PATH}/${id}`)).body)
    expect(during.provisioningSteps.at(-1)).toMatchObject({
      id: 'install-deps',
      status: 'running',
      installSessionId: sessionId,
    })
    client.advance(30_000)
    expect((await client.get(`/api/v0/sessions/${sessionId}`)).body).toMatchObject({
      status: 'idle',
    })
    const again = await client.send('POST', install)
    expect(again.status).toBe(202)
    expect(computer.parse(again.body).provisioningSteps.at(-1)?.installSessionId).not.toBe(
      sessionId,
    )
  })

  it('a failed install can be repeated, and fixes the computer', async () => {
    const client = await platform()
    client.advance(10 * MINUTE)
    const broken = (await listOf(client))[3]
    const path = `${PATH}/${broken?.id ?? ''}`
    const answer = await client.send('POST', `${path}/install-deps`)
    expect(computer.parse(answer.body).status).toBe('provisioning')
    client.advance(30_000)
    expect(computer.parse((await client.get(path)).body).status).toBe('active')
  })

  it('refresh returns the number of integrations, and restart takes a while', async () => {
    const client = await platform()
    const [{ id } = { id: '' }] = await listOf(client)
    expect(await client.send('POST', `${PATH}/${id}/refresh`)).toMatchObject({
      status: 200,
      body: { configured: 2 },
    })
    expect(await client.send('POST', `${PATH}/${id}/restart`)).toMatchObject({
      status: 200,
      body: {},
    })
    expect((await listOf(client))[0]?.status).toBe('provisioning')
    client.advance(10_000)
    expect((await listOf(client))[0]?.status).toBe('active')
  })

  it('an unmanaged computer cannot be restarted', async () => {
    const client = await platform()
    const byom = (await listOf(client)).find(({ providerType }) => providerType === 'byom')
    expectProblem(await client.send('POST', `${PATH}/${byom?.id ?? ''}/restart`), 400)
  })

  it('delete gets a 204 without a body, and the computer is gone', async () => {
    const client = await platform()
    const [{ id } = { id: '' }] = await listOf(client)
    const answer = await client.send('DELETE', `${PATH}/${id}`)
    expect(answer).toMatchObject({ status: 204, body: undefined })
    expectProblem(await client.send('DELETE', `${PATH}/${id}`), 404)
    expect((await listOf(client)).map((each) => each.id)).not.toContain(id)
  })
})

describe('metrics', () => {
  it('are samples of the last day, about five minutes apart, and the same in every response', async () => {
    const client = await platform()
    const [{ id } = { id: '' }] = await listOf(client)
    const samples = await metricsOf(client, id, '')
    expect(samples).toHaveLength(288)
    client.advance(20 * MINUTE)
    const later = await metricsOf(client, id, `?start=${samples[0]?.timestamp ?? ''}`)
    expect(later.slice(0, samples.length)).toEqual(samples)
    expect(later).toHaveLength(samples.length + 4)
  })

  it('begin at start, inclusive, in any time zone', async () => {
    const client = await platform()
    const [{ id } = { id: '' }] = await listOf(client)
    const start = '2026-03-20T11:30:00Z'
    const samples = await metricsOf(client, id, `?start=${start}`)
    expect(samples.every(({ timestamp }) => timestamp >= '2026-03-20T11:30')).toBe(true)
    const zoned = encodeURIComponent('2026-03-20T12:30:00+01:00')
    expect(await metricsOf(client, id, `?start=${zoned}`)).toEqual(samples)
    expect(await metricsOf(client, id, '?start=2026-03-21T00:00:00Z')).toEqual([])
  })

  it('are empty before a computer is active', async () => {
    const client = await platform()
    const runner = (await listOf(client))[2]
    expect(await metricsOf(client, runner?.id ?? '', '')).toEqual([])
    client.advance(20 * MINUTE)
    expect((await metricsOf(client, runner?.id ?? '', '')).length).toBeGreaterThan(1)
  })

  it.each(['yesterday', '', '2026-13-45T00:00:00Z', '2026-03-01'])(
    'with start=%s get a 400',
    async (start) => {
      const client = await platform()
      const [{ id } = { id: '' }] = await listOf(client)
      expectProblem(await client.get(`${PATH}/${id}/metrics?start=${start}`), 400)
    },
  )
})

async function listOf(client: Client): Promise<z.infer<typeof computer>[]> {
  const { body } = await client.get(PATH)
  return z.strictObject({ computers: z.array(computer) }).parse(body).computers
}

async function metricsOf(client: Client, id: string, query: string) {
  return z.array(sample).parse((await client.get(`${PATH}/${id}/metrics${query}`)).body)
}
