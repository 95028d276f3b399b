import { describe, expect, test } from 'vitest'
import type { Invocation } from './every-command.ts'
import { expectNoKey, inValues, KEY, problem, WAYS } from './echoed-key.ts'
import { hostilePlatform } from './hostile-platform.ts'

/** Every command is run, and builds take most of it: on a busy machine minutes. */
const PATIENCE = { timeout: 900_000 }

describe(
  'law 11: the API key appears in no output and in no file, whatever the platform echoes',
  PATIENCE,
  () => {
    test('in values: every command runs without showing the key, and the values land with [redacted]', async () => {
      const { shown, files } = await expectNoKey(await hostilePlatform(KEY, inValues))
      expect(shown.slice(0, 4).map(({ code }) => code)).toEqual([0, 0, 0, 0])
      expect(shown.slice(-3).map(({ code }) => code)).toEqual([0, 0, 0])
      expect(shown.some(({ out }) => out.includes('[redacted]'))).toBe(true)
      expect(files).toBeGreaterThan(50)
    })

    // A command that starts its own platform does not talk to this one; `sync` requests what `run`
    // does, and hardly anything lands that could be built.
    const asksOrReads = ({ isAlone, args: [name = ''] }: Invocation): boolean =>
      isAlone !== true && !['build', 'rebuild', 'run'].includes(name)
    test.each(WAYS)('%s: no command shows the key', async (_, change) => {
      await expectNoKey(await hostilePlatform(KEY, change), asksOrReads)
    })

    test('in a 500, which is retried: sync does not show the key', async () => {
      await expectNoKey(await hostilePlatform(KEY, problem(500)), ({ args }) => args[0] === 'sync')
    })
  },
)
