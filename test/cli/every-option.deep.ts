import { describe, expect, it } from 'vitest'
import { version } from '../../src/lib/package.ts'
import { commonStage, ROWS, testRows } from './every-option.ts'
import { registered } from './registry.ts'

const COMMANDS = await registered()

/** Options that every command has. */
const EVERYWHERE = ['help', 'version', 'debug']

describe('every option of every command', () => {
  const stageOf = commonStage()

  it('has a test, and every test is of an option that exists', () => {
    const documented = COMMANDS.flatMap(({ name, options }) =>
      options.filter((each) => !EVERYWHERE.includes(each)).map((each) => `${name} --${each}`),
    )
    expect(Object.keys(ROWS).sort()).toEqual(documented.sort())
    expect(
      COMMANDS.every(({ options }) => EVERYWHERE.every((each) => options.includes(each))),
    ).toBe(true)
  })

  testRows(stageOf)

  it.each(COMMANDS.map(({ name }) => name))(
    'includes --help, --version and --debug for %s',
    async (name) => {
      const stage = stageOf()
      const path = name.split(' ')
      const help = await stage.go([...path, '--help'])
      expect(help.code).toBe(0)
      expect(help.out).toMatch(new RegExp(`^agent-warehouse ${name}`, 'm'))
      expect(help.out).toContain('Examples:')
      expect(await stage.go([...path, '--version'])).toEqual({
        code: 0,
        out: `${version}\n`,
        err: '',
      })
      const plain = await stage.go([...path, '--no-such-option'])
      const debug = await stage.go([...path, '--no-such-option', '--debug'])
      expect([plain.code, debug.code]).toEqual([2, 2])
      expect(plain.err).not.toMatch(/^ +at /m)
      expect(debug.err).toMatch(/^ +at /m)
    },
  )
})
