import { execFileSync } from 'node:child_process'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageRoot } from '../../src/store/root.ts'
import { command } from '../command.ts'
import { startFaultyPlatform, type FaultRule } from '../faults.ts'
import { sendJson, testServer } from '../helpers.ts'
import { commandsIn, readWorkflow, startRunner, type NightOptions } from './nightly-runner.ts'

const EVENTS = 'data/seeds/events.csv'
const HEADER = 'event_date,name,description,team\n'
const KEY = '5e'.repeat(32)

async function stage(repository: object | null = { private: true, visibility: 'private' }) {
  const platform = await startFaultyPlatform({
    now: () => Date.parse('2026-01-20T05:00:00Z'),
    users: 3,
  })
  const github = await testServer((request, response) => {
    const isKnown = request.headers.authorization === 'Bearer ghs_token'
    sendJson(response, isKnown && repository !== null ? 200 : 404, repository ?? {})
  })
  const runner = await startRunner()
  const options: NightOptions = {
    secrets: { AGENT_API_KEY: platform.emulator.keys.manager, AGENT_WAREHOUSE_REDACTION_KEY: KEY },
    vars: { AGENT_BASE_URL: platform.url },
    environment: { GITHUB_API_URL: github.url },
    tracked: { [EVENTS]: HEADER },
  }
  return { platform, runner, options, ...runner }
}

/** Names of what the archive in the cache holds. */
function archived(cache: string): string[] {
  const list = execFileSync('tar', ['-tzf', join(cache, 'data.tar.gz')], { encoding: 'utf8' })
  return list.split('\n').filter((name) => name !== '' && !name.endsWith('/'))
}

function query(workspace: string, sql: string) {
  const data = join(workspace, 'data')
  return command(['query', sql, '--format', 'csv'], { AGENT_WAREHOUSE_DATA: data })
}

/** A stub in the place of the compiled command. */
function commandIs(program: string): (workspace: string) => Promise<void> {
  return async (workspace) => {
    await rm(join(workspace, 'dist'))
    await mkdir(join(workspace, 'dist', 'cli'), { recursive: true })
    await writeFile(join(workspace, 'dist', 'cli', 'main.js'), program)
  }
}

describe('the nightly workflow', () => {
  it('a night after one that was killed is complete, and tracked seeds stay as committed', async () => {
    const { platform, night, cache, artifacts, options } = await stage()
    const workspaces: string[] = []
    const prepare = (workspace: string): Promise<void> => {
      workspaces.push(workspace)
      return Promise.resolve()
    }
    let killed = 0
    const where: FaultRule['where'] = ({ endpoint, first }) => {
      if (killed > 0 || endpoint !== 'users' || first !== '2026-01-17') return false
      const lease = readFileSync(join(workspaces[0] ?? '', 'data', 'state', 'lock'), 'utf8')
      killed = (JSON.parse(lease) as { pid: number }).pid
      process.kill(killed, 'SIGKILL')
      return false
    }
    platform.strike([{ kind: '404', where }])
    const first = await night({ ...options, prepare })
    expect(killed).toBeGreaterThan(0)
    expect(first.outcomes).toMatchObject({ Run: 'failure', Unpack: 'success', Pack: 'success' })
    const left = archived(cache)
    expect(left.filter((name) => name.startsWith('lake/raw/'))).not.toEqual([])
    expect(left.filter((name) => /lock|seeds|redaction|\.part$/.test(name))).toEqual([])

    const events = `${HEADER}2026-01-15,launch,,\n`
    const second = await night({ ...options, tracked: { [EVENTS]: events } })
    expect([second.conclusion, second.log]).toEqual([
      'success',
      expect.not.stringContaining('held'),
    ])
    expect(await readFile(join(second.workspace, EVENTS), 'utf8')).toBe(events)
    expect((await query(second.workspace, 'select event_name from dim_event')).out).toContain(
      'launch',
    )
    const days = await query(
      second.workspace,
      `select resource, count(*) from meta.intervals where status in ('landed', 'empty')
        and resource in ('users', 'tokens') group by 1 order by 1`,
    )
    expect(days.out).toMatch(/tokens,6\nusers,6\n/)
    expect((await readdir(artifacts)).sort()).toEqual(['exports', 'warehouse.duckdb'])
    expect(archived(cache)).toContain('warehouse.duckdb')

    const third = await night({ ...options, prepare: commandIs('') })
    const [before, after] = [second, third].map(({ workspace }) => {
      const { mtimeNs, size } = statSync(join(workspace, 'data/warehouse.duckdb'), { bigint: true })
      return { mtimeNs, size }
    })
    expect(after).toEqual(before)
    expect(archived(cache).filter((name) => /lock|seeds|redaction/.test(name))).toEqual([])
  })

  it('makes an archive and artifacts that only the passphrase opens', async () => {
    const { night, cache, artifacts, options } = await stage()
    const sealed = (PASSPHRASE: string): NightOptions => ({
      ...options,
      secrets: { ...options.secrets, AGENT_WAREHOUSE_PASSPHRASE: PASSPHRASE },
    })
    expect((await night(sealed('correct horse'))).conclusion).toBe('success')
    expect(await readdir(cache)).toEqual(['data.tar.gz.gpg'])
    expect((await readdir(artifacts)).sort()).toEqual([
      'exports.tar.gz.gpg',
      'warehouse.duckdb.gpg',
    ])
    const bytes = await readFile(join(cache, 'data.tar.gz.gpg'))
    expect(bytes.subarray(0, 1)).not.toEqual(Buffer.from([0x1f]))

    for (const [passphrase, why] of [
      ['another', 'is not the one of the last night'],
      ['', 'is not set'],
    ] as const) {
      const refused = await night(sealed(passphrase))
      expect(refused.conclusion).toBe('failure')
      expect(refused.outcomes).not.toHaveProperty('Run')
      expect(refused.outcomes).not.toHaveProperty('Pack')
      expect(refused.log).toContain(why)
      expect(await readFile(join(cache, 'data.tar.gz.gpg'))).toEqual(bytes)
    }

    const next = await night(sealed('correct horse'))
    expect(next.conclusion).toBe('success')
    expect(
      (await query(next.workspace, `select count(*) from meta.runs where command = 'run'`)).out,
    ).toMatch(/\n2\n/)
  })

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

  it('fails the job after three nights in a row that were partial or deferred', async () => {
    const { platform, night, options } = await stage()
    const where: FaultRule['where'] = ({ endpoint, first }) =>
      endpoint === 'users' && first === '2026-01-17'
    platform.strike([{ kind: '404', where }])
    const nights = []
    for (let count = 0; count < 3; count += 1) nights.push(await night(options))
    expect(nights.map(({ outcomes }) => outcomes['Run'])).toEqual(['success', 'success', 'failure'])
    expect(nights.map(({ outcomes }) => outcomes['Save the archive'])).not.toContain('failure')
    platform.strike([])
    expect((await night(options)).conclusion).toBe('success')
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

it('every action is pinned by its commit, and no step gets a credential or text that it need not have', async () => {
  for (const name of await readdir(join(packageRoot, '.github', 'workflows'))) {
    const text = await readFile(join(packageRoot, '.github', 'workflows', name), 'utf8')
    const uses = [...text.matchAll(/uses: (.*)$/gm)].map(([, action = '']) => action)
    for (const action of uses) expect(action).toMatch(/^[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
    const { jobs, permissions } = await readWorkflow(name)
    expect(permissions).toEqual({ contents: 'read' })
    for (const { steps } of Object.values(jobs)) {
      for (const step of steps) {
        expect(step.run ?? '').not.toContain('${{')
        if (step.uses?.startsWith('actions/checkout@') !== true) continue
        expect(step.with).toMatchObject({ 'persist-credentials': false })
      }
    }
  }
})
