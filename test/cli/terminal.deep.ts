import { describe, expect, test } from 'vitest'
import { onTerminal } from './every-command.ts'
import { CONTROLS, EVIL, expectNoneToPrintControls, WAYS } from './terminal.ts'

/** echoed-key.deep.ts has them in values that land, with which every command runs. */
describe('law 11: control characters', () => {
  test.each(WAYS)('%s are printed by no command that requests or reads', async (_, change) => {
    await expectNoneToPrintControls(change)
  })

  test('in arguments are not printed', async () => {
    const { err, code } = await onTerminal(['query', `select '${EVIL}`, EVIL], {}, '/')
    expect(code).toBe(2)
    expect(err).not.toMatch(CONTROLS)
  })
})
