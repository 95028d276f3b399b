import { execFile } from 'node:child_process'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { packageRoot } from '../../src/store/root.ts'
import { startCommand } from '../command.ts'
import { testServer } from '../helpers.ts'
import { configured, published, type Published } from './published-stage.ts'
import { examples } from './registry.ts'

const STARTS_AT = Date.parse('2026-03-10T00:30:00Z')
const ALL = await examples()

/** Examples that end otherwise than with 0 where nothing is wrong. */
const ENDS: Readonly<Record<string, readonly [code: number, told: RegExp]>> = {
  '$0 build --retry': [2, /--retry: no build has failed/],
  '$0 build --as-of 2026-03-01': [2, /--as-of: nothing had landed by/],
}

/** The words of a line as a shell splits them; of quotes, as the examples have them. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? '',
  )
}

describe('an example of --help', () => {
  let stage: Published
  let cwd: string

  beforeAll(async () => {
    const began = Date.now()
    // Ten minutes a second: what is waited for comes about.
    const now = (): number => STARTS_AT + (Date.now() - began) * 600
    stage = await published({ users: 40, now }, ['--to', '2026-03-05'])
    const second = await stage.go(['run', '--log', 'none'])
    expect(second.code, second.err).toBe(0)
    cwd = await stage.folder()
    await writeFile(
      join(cwd, 'limits.csv'),
      'email,limit\nada.abara@acme.example,7000000\ngrace.hopper@acme.example,none\n',
    )
    await configured(
      cwd,
      'hooks:\n  channels:\n    team: { type: webhook, url_env: TEAM_CHAT_URL }\n',
    )
  }, 240_000)

  afterAll(() => stage.close())

  const inProcess = ALL.filter((each) => !/\| |^\$0 (emulate|demo)/.test(each))
  it.each(inProcess)('can be copied and run: %s', { timeout: 120_000 }, async (line) => {
    const { url } = await testServer((_, response) => response.end('{}'))
    const environment = { TEAM_CHAT_URL: url }
    const [code, told] = ENDS[line] ?? [0, /^/]
    for (const part of line.split(' && ')) {
      const [program, ...args] = wordsOf(part)
      expect(program).toBe('$0')
      const said = await stage.go(args, { environment, cwd, answers: 'y' })
      expect(said.code, `${part}\n${said.err}${said.out}`).toBe(code)
      expect(said.err).toMatch(told)
    }
  })

  const inShell = ALL.filter((each) => each.includes('| '))
  it.each(inShell)('can be copied into a shell: %s', async (line) => {
    const bin = join(await stage.folder(), 'bin')
    await mkdir(bin)
    const main = join(packageRoot, 'dist', 'cli', 'main.js')
    await writeFile(
      join(bin, 'agent-warehouse'),
      `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`,
    )
    await chmod(join(bin, 'agent-warehouse'), 0o755)
    const env = { ...stage.environment, PATH: `${bin}:${stage.environment['PATH'] ?? ''}` }
    const shell = line.replaceAll('$0', 'agent-warehouse')
    const error = await new Promise((resolve) => {
      execFile('/bin/sh', ['-c', shell], { cwd, env }, resolve)
    })
    expect(error).toBeNull()
  })

  const endless = ALL.filter((each) => each.startsWith('$0 emulate'))
  it.each(endless)('serves until it is ended: %s', async (line) => {
    const [, ...args] = wordsOf(line)
    // Other ports: those of the example may be in use.
    const running = startCommand([...args, '--port', '0', '--app-port', '0'])
    onTestFinished(() => {
      running.kill('SIGKILL')
    })
    await running.told('Ctrl-C')
    running.kill('SIGINT')
    expect((await running.outcome).code).toBe(0)
  })

  it('has no placeholder that a shell or the command would stumble over', () => {
    expect(ALL.filter((each) => /[<>…]|\.\.\./.test(each))).toEqual([])
    expect(ALL.length).toBeGreaterThan(60)
  })
})
