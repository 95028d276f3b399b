import { describe, expect, test } from 'vitest'
import { onTerminal } from './every-command.ts'
import { EVIL, expectNothingObeyed, inValues, OBEYED, problem } from './terminal.ts'

/** Minutes of building: in terminal-builds.deep.ts. */
const BUILDS = new Set(['build', 'run', 'rebuild', 'verify', 'demo'])

/** Every command, and with every command that builds and every other place: terminal-builds.deep.ts. */
describe('nothing that the platform says is obeyed by the terminal', () => {
  test('in a 400: every command but the demo, which has a platform of its own', async () => {
    await expectNothingObeyed(problem(400), ({ args }) => args[0] !== 'demo')
  })

  test('in names and values', async () => {
    await expectNothingObeyed(inValues, ({ args }) => !BUILDS.has(args[0] ?? ''))
  })

  test('arguments of the caller are not obeyed either', async () => {
    const { err, code } = await onTerminal(['query', `select '${EVIL}`, EVIL], {}, '/')
    expect(code).toBe(2)
    expect(err).not.toMatch(OBEYED)
  })
})
