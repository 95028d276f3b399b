import { describe, expect, test } from 'vitest'
import { onTerminal } from './every-command.ts'
import { EVIL, expectNoControls, CONTROLS, problem } from './terminal.ts'

/** terminal-builds.deep.ts tries every other place, in which commands build for minutes. */
describe('law 11: control characters', () => {
  test('in an error response (400) are printed by no command', async () => {
    await expectNoControls(problem(400), ({ args }) => args[0] !== 'demo')
  })

  test('in arguments are not printed', async () => {
    const { err, code } = await onTerminal(['query', `select '${EVIL}`, EVIL], {}, '/')
    expect(code).toBe(2)
    expect(err).not.toMatch(CONTROLS)
  })
})
