import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { testServer } from '../support/helpers.ts'
import { configured, published, type Published } from './published-stage.ts'
import { examples } from './registry.ts'

const STARTS_AT = Date.parse('2026-03-10T00:30:00Z')
/** Every example of every command. */
export const ALL = await examples()

/** Examples that exit with another code than 0 on a healthy warehouse. */
const EXITS: Readonly<Record<string, readonly [code: number, message: RegExp]>> = {
  '$0 build --retry': [2, /--retry: no build has failed/],
  // The configuration of these tests has one organisation, `default`.
  '$0 status --org acme': [2, /there is no organisation 'acme'/],
  '$0 sync --org acme,beta': [2, /there is no organisation 'acme'/],
  '$0 build --as-of 2026-03-01': [2, /--as-of: nothing had landed by/],
}

/** The words of a line as a shell splits them, with the quotes that the examples use. */
export function wordsOf(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? '',
  )
}

/** Its output goes to another program, or it starts its own platform. */
const APART = /\| |^\$0 (?:emulate|demo)/

/** A published warehouse, and a folder with what the examples name. */
interface Stage extends Published {
  readonly cwd: string
}

/** One stage for all tests of the describe that asks for it. */
export function exampleStage(): () => Stage {
  let stage: Stage | undefined

  beforeAll(async () => {
    const began = Date.now()
    // Ten minutes pass in a second, so that commands that wait come to an end.
    const now = (): number => STARTS_AT + (Date.now() - began) * 600
    const made = await published({ users: 40, now }, ['--to', '2026-03-05'])
    const second = await made.go(['run', '--log', 'none'])
    expect(second.code, second.err).toBe(0)
    const cwd = await made.folder()
    stage = { ...made, cwd }
    await writeFile(
      join(cwd, 'limits.csv'),
      'email,limit\nada.abara@acme.example,7000000\ngrace.hopper@acme.example,none\n',
    )
    await configured(
      cwd,
      'hooks:\n  channels:\n    team: { type: webhook, url_env: TEAM_CHAT_URL }\n',
    )
  })

  afterAll(() => stage?.close())
  return () => {
    if (stage === undefined) throw new Error('the stage exists only during tests')
    return stage
  }
}

/** A test of each example that can be run within the test. */
export function testExamples(stageOf: () => Stage): void {
  const lines = ALL.filter((each) => !APART.test(each))
  it.each(lines)('can be copied and run: %s', { timeout: 120_000 }, async (line) => {
    const { go, cwd } = stageOf()
    const { url } = await testServer((_, response) => response.end('{}'))
    const environment = { TEAM_CHAT_URL: url }
    const [code, message] = EXITS[line] ?? [0, /^/]
    for (const part of line.split(' && ')) {
      const [program, ...words] = wordsOf(part)
      const args = words.map((word) => word.replace(/^~(?=\/)/, cwd)) // as a shell does
      expect(program).toBe('$0')
      const result = await go(args, { environment, cwd, answers: 'y' })
      expect(result.code, `${part}\n${result.err}${result.out}`).toBe(code)
      expect(result.err).toMatch(message)
    }
  })
}
