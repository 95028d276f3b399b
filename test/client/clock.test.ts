import { setTimeout as delay } from 'node:timers/promises'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createHttp, createNodeWorld } from '../../src/client/http/node-world.ts'
import { testServer } from '../support/helpers.ts'
import { failureOf } from './support.ts'

it('law 10: a wait of more than the longest timer, 24 days, does not end at once', async () => {
  const { signal } = new AbortController()
  const { world, close } = createNodeWorld({ emit: () => undefined, signal, hangUp: signal })
  onTestFinished(close)
  const stop = new AbortController()
  const wait = world.sleep(25 * 86_400_000, stop.signal).then(() => 'over')
  expect(await Promise.race([wait, delay(20, 'waiting')])).toBe('waiting')
  stop.abort(new Error('stopped'))
  await expect(wait).rejects.toThrow('stopped')
})

it('law 13: a run does not follow a clock that is set back, so that no wait gets longer', () => {
  const { signal } = new AbortController()
  const { world, close } = createNodeWorld({ emit: () => undefined, signal, hangUp: signal })
  onTestFinished(close)
  const before = Date.now()
  const clock = vi.spyOn(Date, 'now').mockReturnValue(before - 3_600_000)
  onTestFinished(() => {
    clock.mockRestore()
  })
  expect(Math.abs(world.now() - before)).toBeLessThan(60_000)
})

it('a response has all the time of its request', async () => {
  const { url } = await testServer(() => undefined)
  const http = createHttp()
  onTestFinished(() => http.close())
  const { signal } = new AbortController()
  const timeoutMs = 1_400
  const lasted = Array.from({ length: 8 }, async (_, index) => {
    await delay(index * 100)
    const began = performance.now()
    await failureOf(http.fetch({ method: 'GET', url, headers: {}, timeoutMs, maxBytes: 1, signal }))
    return performance.now() - began
  })
  expect(Math.min(...(await Promise.all(lasted)))).toBeGreaterThan(timeoutMs - 20)
})
