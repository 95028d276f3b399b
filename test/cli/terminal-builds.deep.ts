import { describe, test } from 'vitest'
import { expectNoControls, inValues, WAYS } from './terminal.ts'

/** Every command is run, and builds take most of it: on a busy machine minutes. */
const PATIENCE = { timeout: 900_000 }

describe('law 11: control characters of the platform', PATIENCE, () => {
  // A command that starts its own platform does not talk to this one.
  test.each([...WAYS, ['in names and values', inValues] as const])(
    '%s are printed by no command',
    async (_, change) => {
      await expectNoControls(change, ({ isAlone }) => isAlone !== true)
    },
  )
})
