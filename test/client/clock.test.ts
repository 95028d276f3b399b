import { expect, it, onTestFinished, vi } from 'vitest'
import { createNodeWorld } from '../../src/client/http/node-world.ts'

it('a run does not follow a clock that is set back, so that no wait gets longer, law 13', () => {
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
