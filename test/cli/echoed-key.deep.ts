import { describe, expect, test } from 'vitest'
import { asksOrReads } from './every-command.ts'
import { expectNoKey, inValues, KEY, problem, WAYS } from './echoed-key.ts'
import { hostilePlatform, type Answer } from './hostile-platform.ts'
import { inValues as controlsInValues } from './terminal.ts'

/** Every command is run, and builds take most of it: on a busy machine minutes. */
const PATIENCE = { timeout: 900_000 }

describe(
  'law 11: the API key appears in no output and in no file, whatever the platform echoes',
  PATIENCE,
  () => {
    test('in values, with control characters: every command runs without showing either, and the values land with [redacted]', async () => {
      const both = (answer: Answer): Answer => controlsInValues(inValues(answer))
      // The demo takes nothing from the environment: option-rows/servers.ts.
      const { shown, files } = await expectNoKey(
        await hostilePlatform(KEY, both),
        ({ args }) => args[0] !== 'demo',
        { inEveryForm: true },
      )
      expect(shown.slice(0, 7).map(({ code }) => code)).toEqual([0, 0, 0, 0, 0, 0, 0])
      expect(shown.slice(-2).map(({ code }) => code)).toEqual([0, 0])
      expect(shown.some(({ out }) => out.includes('[redacted]'))).toBe(true)
      expect(files).toBeGreaterThan(50)
    })

    test.each(WAYS)('%s: no command that requests or reads shows the key', async (_, change) => {
      await expectNoKey(await hostilePlatform(KEY, change), asksOrReads)
    })

    test('in a 500, which is retried: sync does not show the key', async () => {
      await expectNoKey(await hostilePlatform(KEY, problem(500)), ({ args }) => args[0] === 'sync')
    })
  },
)
