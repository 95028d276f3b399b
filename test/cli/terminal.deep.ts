import { describe, expect, test } from 'vitest'
import { onTerminal } from './every-command.ts'
import { EVIL, expectNoControls, inValues, CONTROLS, problem } from './terminal.ts'

/** These build for minutes: terminal-builds.deep.ts runs them. */
const BUILDS = new Set(['build', 'run', 'rebuild', 'verify', 'demo'])

/** terminal-builds.deep.ts runs the commands that build, too, and tries every other place. */
describe('law 11: control characters', () => {
  test('in an error response (400) are printed by no command', async () => {
    await expectNoControls(problem(400), ({ args }) => args[0] !== 'demo')
  })

  test('in names and values are printed by no command', async () => {
    await expectNoControls(inValues, ({ args }) => !BUILDS.has(args[0] ?? ''))
  })

  test('in arguments are not printed', async () => {
    const { err, code } = await onTerminal(['query', `select '${EVIL}`, EVIL], {}, '/')
    expect(code).toBe(2)
    expect(err).not.toMatch(CONTROLS)
  })
})
