import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { version } from '../../src/version.ts'
import { COMMON } from './option-rows/common.ts'
import { HOOKS } from './option-rows/hooks.ts'
import { PIPELINE } from './option-rows/pipeline.ts'
import { PLATFORM } from './option-rows/platform.ts'
import { SERVERS } from './option-rows/servers.ts'
import type { Kit, Rows } from './option-rows/rows.ts'
import { published, type Published } from './published-stage.ts'
import { registered } from './registry.ts'

const NOW = Date.parse('2026-02-03T05:00:00Z')
const COMMANDS = await registered()

/** What every command has. */
const EVERYWHERE = ['help', 'version', 'debug']

const ROWS: Rows = { ...COMMON, ...PIPELINE, ...PLATFORM, ...HOOKS, ...SERVERS }

describe('every option of every command', () => {
  let stage: Published

  beforeAll(async () => {
    stage = await published({ users: 6, now: () => NOW })
  }, 240_000)
  afterAll(() => stage.close())

  it('has a row here, and no row is of an option that is gone', () => {
    const documented = COMMANDS.flatMap(({ name, options }) =>
      options.filter((each) => !EVERYWHERE.includes(each)).map((each) => `${name} --${each}`),
    )
    expect(Object.keys(ROWS).sort()).toEqual(documented.sort())
    expect(
      COMMANDS.every(({ options }) => EVERYWHERE.every((each) => options.includes(each))),
    ).toBe(true)
  })

  it.each(Object.entries(ROWS))('does what it says: %s', { timeout: 180_000 }, async (_, row) => {
    const folder = await stage.folder()
    const kit: Kit = { ...stage, here: folder, asked: () => askedOf(stage) }
    await row(kit)
  })

  it.each(COMMANDS.map(({ name }) => name))(
    'is there for %s: --help, --version, --debug',
    async (name) => {
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

/** What the platform was asked so far, and what comes after. */
function askedOf({ emulator }: Published): () => string[] {
  const before = emulator.requests.length
  return () => emulator.requests.slice(before).map(({ method, path }) => `${method} ${path}`)
}
