import { describe, expect, test } from 'vitest'
import { expectNoKey, inValues, KEY, problem } from './echoed-key.ts'
import { hostilePlatform } from './hostile-platform.ts'

/** Minutes of building, which has the answers from where they landed: in echoed-key.deep.ts. */
const BUILDS = new Set(['build', 'run', 'rebuild', 'verify', 'demo'])

/** Every command, and with every command that builds and every other echo: echoed-key.deep.ts. */
describe('the API key appears in no output and in no file', () => {
  test('in a 403: every command but the demo, which has a platform of its own', async () => {
    await expectNoKey(await hostilePlatform(KEY, problem(403)), ({ args }) => args[0] !== 'demo')
  })

  test('in values: what lands has a mark in its place', async () => {
    const { shown, files } = await expectNoKey(
      await hostilePlatform(KEY, inValues),
      ({ args }) => !BUILDS.has(args[0] ?? ''),
    )
    expect(shown.slice(0, 2).map(({ code }) => code)).toEqual([0, 0])
    expect(shown.some(({ out }) => out.includes('[redacted]'))).toBe(true)
    expect(files).toBeGreaterThan(50)
  })
})
