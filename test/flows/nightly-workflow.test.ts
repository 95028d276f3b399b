import { describe, expect, it } from 'vitest'
import { commandsIn } from './nightly-runner.ts'
import { commandIs, stage } from './nightly-stage.ts'

/** Whole nights, one after the other: nightly-workflow.deep.ts. */
describe('the nightly workflow', () => {
  it.each([
    ['public', { private: false, visibility: 'public' }],
    ['said to be private and public', { private: true, visibility: 'public' }],
    ['one that the API does not say anything of', {}],
    ['one that the API does not know', null],
  ])('refuses a repository that is %s', async (_, repository) => {
    const { night, options } = await stage(repository)
    const { conclusion, outcomes, log } = await night(options)
    expect(conclusion).toBe('failure')
    expect(Object.keys(outcomes).at(-1)).toBe('Refuse a public repository')
    expect(commandsIn(log)).toEqual([expect.stringMatching(/^::error .*refused: /)])
  })

  it('refuses when the API cannot be reached', async () => {
    const { night, options } = await stage()
    const environment = { GITHUB_API_URL: 'http://127.0.0.1:1' }
    expect((await night({ ...options, environment })).log).toContain('cannot be told')
  })

  it('takes no command from the text of a server, and lets none out of the summary', async () => {
    const { night, options } = await stage()
    const hostile = [
      '::error::boo',
      '::set-output name=a::b',
      '::stop-commands::x',
      '::x::',
      '`````',
      '</details><img src=x>',
      '````text',
      '\\u001b[31mred\\r::add-path::/tmp',
    ].join('\\n')
    const program = `
      if (process.argv[2] !== 'run') process.exit(0)
      process.stdout.write('Partial: 1 of 2 intervals answered.\\n${hostile}')
      process.stderr.write('${hostile}')
      process.exit(1)`
    const { log, summary } = await night({ ...options, prepare: commandIs(program) })
    expect(log).toContain('::error::boo')
    expect(commandsIn(log).map((line) => line.slice(0, 31))).toEqual([
      '::warning title=agent-warehouse', // no archive yet
      '::warning title=agent-warehouse', // nothing to keep
    ])
    const [, fence = ''] = /^### agent-warehouse\n\n(`+)text\n/.exec(summary) ?? []
    expect(summary.split('\n').filter((line) => line.startsWith(fence))).toHaveLength(2)
    expect(summary.trimEnd().endsWith(`\n${fence}`)).toBe(true)
    expect(summary).not.toMatch(/[\r\u001b]/)
  })

  it('warns near the limit of the cache, and fails beyond it', async () => {
    const { night, options } = await stage()
    const program = `
      import { mkdirSync, writeFileSync } from 'node:fs'
      import { randomBytes } from 'node:crypto'
      mkdirSync(process.env.AGENT_WAREHOUSE_DATA + '/lake', { recursive: true })
      writeFileSync(process.env.AGENT_WAREHOUSE_DATA + '/lake/raw', randomBytes(6_000_000))`
    const within = (limit: number): Promise<{ log: string; conclusion: string }> => {
      const environment = { ...options.environment, CACHE_LIMIT_BYTES: String(limit) }
      return night({ ...options, environment, prepare: commandIs(program) })
    }
    expect((await within(100_000_000)).log).not.toContain('MB')
    expect((await within(10_000_000)).log).toMatch(/::warning .*has 6 MB of the 10 MB/)
    expect(await within(5_000_000)).toMatchObject({ conclusion: 'failure' })
  })
})
