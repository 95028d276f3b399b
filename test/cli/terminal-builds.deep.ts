import { describe, test } from 'vitest'
import { expectNothingObeyed, inValues, WAYS } from './terminal.ts'

/** Every command is run, and builds take most of it: on a busy machine minutes. */
const PATIENCE = { timeout: 900_000 }

describe(
  'nothing that the platform says is obeyed by the terminal, wherever it is',
  PATIENCE,
  () => {
    test('in names and values: every command', async () => {
      await expectNothingObeyed(inValues, () => true)
    })

    // A command that has a platform of its own hears nothing of this one.
    test.each(WAYS)('%s: every command', async (_, change) => {
      await expectNothingObeyed(change, ({ isAlone }) => isAlone !== true)
    })
  },
)
