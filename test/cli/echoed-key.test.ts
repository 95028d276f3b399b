import { describe, expect, test } from 'vitest'
import { expectNoKey, inValues, KEY, problem } from './echoed-key.ts'
import { hostilePlatform } from './hostile-platform.ts'

/** These build for minutes from what has landed: echoed-key.deep.ts runs them. */
const BUILDS = new Set(['build', 'run', 'rebuild', 'verify', 'demo'])

/** echoed-key.deep.ts runs the commands that build, too, and echoes the key in every other place. */
describe('law 11: the API key appears in no output and in no file', () => {
  test('in a 403: no command shows the key', async () => {
    await expectNoKey(await hostilePlatform(KEY, problem(403)), ({ args }) => args[0] !== 'demo')
  })

  test('in values: no command shows the key, and the values land with [redacted]', async () => {
    const { shown, files } = await expectNoKey(
      await hostilePlatform(KEY, inValues),
      ({ args }) => !BUILDS.has(args[0] ?? ''),
    )
    expect(shown.slice(0, 2).map(({ code }) => code)).toEqual([0, 0])
    expect(shown.some(({ out }) => out.includes('[redacted]'))).toBe(true)
    expect(files).toBeGreaterThan(50)
  })
})
