import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { packageRoot } from '../../src/lib/package.ts'
import { commandsIn, readWorkflow } from './nightly-runner.ts'
import { commandIs, stage } from './nightly-stage.ts'

const WORKFLOW = await readWorkflow()
const JOB = WORKFLOW.jobs.nightly

/** nightly-workflow.deep.ts runs several nights in a row. */
describe('the steps of the nightly workflow', () => {
  it.each([
    ['public', { private: false, visibility: 'public' }],
    ['both private and public', { private: true, visibility: 'public' }],
    ['without a visibility in the API', {}],
    ['unknown to the API', null],
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
    expect((await night({ ...options, environment })).log).toContain(
      'it is not known whether this repository is private',
    )
  })

  it('refuses to begin from nothing when an archive exists that was not restored', async () => {
    const { night, options, cache } = await stage()
    const program = `
      import { mkdirSync } from 'node:fs'
      if (process.argv[2] === 'run') mkdirSync(process.env.AGENT_WAREHOUSE_DATA + '/lake')`
    const prepare = commandIs(program)
    expect((await night({ ...options, prepare })).conclusion).toBe('success')
    const { outcomes, log } = await night({ ...options, prepare, isCacheDown: true })
    expect(Object.keys(outcomes).at(-1)).toBe('Unpack')
    expect(commandsIn(log)).toEqual([expect.stringMatching(/^::error .*no archive was restored/)])
    await rm(cache, { recursive: true })
    expect((await night({ ...options, prepare })).conclusion).toBe('success')
  })

  it('refuses to begin from nothing when the API does not say whether there is an archive', async () => {
    const { night, options } = await stage({ private: true }, null)
    const { outcomes, log } = await night(options)
    expect(Object.keys(outcomes).at(-1)).toBe('Unpack')
    expect(commandsIn(log)).toEqual([expect.stringMatching(/^::error .*it is not known whether/)])
  })

  it('law 11: runs no log command from the text of a server, and keeps that text inside its block of the summary', async () => {
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

  it('starts only by schedule or by hand, one run at a time, on hosted runners', () => {
    expect(WORKFLOW.on).toEqual({
      schedule: [{ cron: expect.stringMatching(/^\d+ \d+ \* \* \*$/) as string }],
      workflow_dispatch: {},
    })
    expect(WORKFLOW.concurrency).toEqual({
      group: 'agent-warehouse-nightly',
      'cancel-in-progress': false,
    })
    expect(JOB['runs-on']).toMatch(/^ubuntu-\d\d\.04$/)
  })

  it('refuses a public repository before any other step and before it reads the cache', () => {
    const refusal = JOB.steps.findIndex(({ name }) => name === 'Refuse a public repository')
    expect(JOB.steps.slice(0, refusal).map(({ uses }) => uses?.split('@')[0])).toEqual([
      'actions/checkout',
      'actions/setup-node',
    ])
  })

  it('gives each secret only to the steps that need it', () => {
    const secretsIn = (part: unknown): string[] =>
      JSON.stringify(part).match(/\bsecrets\b[.\w]*|github\.token/g) ?? []
    const given = JOB.steps.flatMap((step) => secretsIn(step).map((name) => [name, step.name]))
    expect(given).toEqual([
      ['github.token', 'Refuse a public repository'],
      ['github.token', 'Unpack'],
      ['secrets.AGENT_WAREHOUSE_PASSPHRASE', 'Unpack'],
      ['secrets.AGENT_API_KEY', 'Run'],
      ['secrets.AGENT_WAREHOUSE_REDACTION_KEY', 'Run'],
      ['secrets.AGENT_WAREHOUSE_PASSPHRASE', 'Pack'],
      ['secrets.AGENT_WAREHOUSE_PASSPHRASE', 'Prepare artifacts'],
    ])
    expect(secretsIn(WORKFLOW)).toHaveLength(given.length)
  })

  it('passes the API key, the hosts and the redaction key of the repository to the run', async () => {
    const { night, options } = await stage()
    const given = {
      secrets: { AGENT_API_KEY: 'fk-a', AGENT_WAREHOUSE_REDACTION_KEY: 'b' },
      vars: { AGENT_BASE_URL: 'https://api.test', AGENT_APP_URL: 'https://app.test' },
    }
    const program = `
      const names = ${JSON.stringify([...Object.keys(given.secrets), ...Object.keys(given.vars)])}
      if (process.argv[2] === 'run') console.log(names.map((name) => process.env[name]).join(' '))`
    const { log } = await night({ ...options, ...given, prepare: commandIs(program) })
    expect(log).toContain('\nfk-a b https://api.test https://app.test\n')
  })

  it('caches each partial night and attempt, uploads its files, and fails from the third on', async () => {
    const { night, options, cache, artifacts } = await stage()
    const program = `
      import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
      process.chdir(process.env.AGENT_WAREHOUSE_DATA)
      for (const folder of ['lake', 'runs', 'exports']) mkdirSync(folder, { recursive: true })
      writeFileSync('exports/' + process.argv[2], '')
      if (process.argv[2] === 'run') {
        appendFileSync('lake/raw', 'x')
        const nights = String(readFileSync('lake/raw'))
        const record = { command: 'run', status: 'partial', started_at: nights }
        writeFileSync('runs/' + nights + '.json', JSON.stringify(record))
        writeFileSync('warehouse.duckdb', nights)
        console.log('nights: ' + nights)
        process.exit(3)
      }`
    const nights = []
    for (const attempt of [1, 1, 2, 3, 1])
      nights.push(await night({ ...options, attempt, prepare: commandIs(program) }))
    const counted = nights.map(({ log }) => /^nights: (x+)$/m.exec(log)?.[1])
    expect(counted).toEqual(['x', 'xx', 'xxx', 'xxxx', 'xxxxx'])
    expect(nights.map(({ conclusion }) => conclusion)).toEqual([
      ...['success', 'success'],
      ...['failure', 'failure', 'failure'],
    ])
    expect(await readdir(cache)).toEqual(['data.tar.gz'])
    expect((await readdir(artifacts)).sort()).toEqual(['exports', 'warehouse.duckdb'])
    expect((await readdir(join(artifacts, 'exports'))).sort()).toEqual(['export', 'report', 'run'])
  })

  it('has the cache limit and the retention of artifacts that README names', async () => {
    const readme = await readFile(join(packageRoot, 'README.md'), 'utf8')
    const [, gigabytes] = /fails beyond (\d+) GB/.exec(readme) ?? []
    expect(JOB.env['CACHE_LIMIT_BYTES']).toBe(Number(gigabytes) * 1e9)
    const [, days] = /are artifacts for (\d+) days/.exec(readme) ?? []
    const offers = JOB.steps.filter(({ uses }) => uses?.startsWith('actions/upload-artifact@'))
    expect(offers.map((offer) => offer.with?.['retention-days'])).toEqual(
      Array<number>(3).fill(Number(days)),
    )
  })

  it('uses a version of Node.js that package.json supports', async () => {
    const { engines } = z
      .object({ engines: z.object({ node: z.string() }) })
      .parse(JSON.parse(await readFile(join(packageRoot, 'package.json'), 'utf8')))
    const node = JOB.steps.find(({ uses }) => uses?.startsWith('actions/setup-node@'))
    const supported = [...engines.node.matchAll(/\^?(\d+)\.\d+/g)].map(([, major]) => Number(major))
    expect(supported).toContain(node?.with?.['node-version'])
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
