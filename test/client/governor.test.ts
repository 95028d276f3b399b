import { describe, expect, it } from 'vitest'
import { PlatformClient } from '../../src/client/index.ts'
import { sendJson, testServer, testWorld } from '../helpers.ts'

describe('the governor', () => {
  it('has never more requests in flight, and is never faster, than it is told', async () => {
    let inFlight = 0
    let most = 0
    const { url } = await testServer((_, response) => {
      inFlight += 1
      most = Math.max(most, inFlight)
      setTimeout(() => {
        inFlight -= 1
        sendJson(response, 200, { data: [], meta: {} })
      }, 20)
    })
    const rate = 40
    const client = new PlatformClient(
      { baseUrl: url, credential: 'k', rate, concurrency: 3, deadline: Infinity },
      testWorld(),
    )
    const startedAt = performance.now()
    const day = { startDate: '2026-03-01', endDate: '2026-03-01' }
    await Promise.all(Array.from({ length: 24 }, () => client.tools(day)))
    const burst = rate / 10
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(((24 - burst) / rate) * 1000 - 20)
    expect(most).toBeLessThanOrEqual(3)
    expect(most).toBeGreaterThan(1)
  })

  it('holds every request while one is told to wait', async () => {
    const world = testWorld()
    const arrivals: number[] = []
    const { url } = await testServer((_, response, count) => {
      arrivals.push(world.now())
      if (count === 1) sendJson(response, 429, {}, { 'retry-after': '60' })
      else sendJson(response, 200, { data: [], meta: {} })
    })
    const options = { baseUrl: url, credential: 'k', rate: 1000, concurrency: 1 }
    const client = new PlatformClient({ ...options, deadline: Infinity }, world)
    const day = { startDate: '2026-03-01', endDate: '2026-03-01' }
    await Promise.all([client.tools(day), client.tokens(day), client.activity(day)])
    const [first = 0, ...others] = arrivals
    expect(others).toHaveLength(3)
    for (const arrival of others) expect(arrival - first).toBeGreaterThanOrEqual(60_000)
  })
})
