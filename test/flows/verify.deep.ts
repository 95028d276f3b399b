import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Intercept } from '../../src/emulator/emulator.ts'
import { Database } from '../../src/lib/duckdb.ts'
import { sha256OfFile } from '../../src/lib/files.ts'
import { command, MAIN, type Outcome } from '../support/command.ts'
import { restoredFolder } from '../support/folders.ts'
import { MACHINE } from '../support/machine.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { environmentOf, standIn } from '../support/stand-in.ts'

const NOW = Date.parse('2026-01-22T05:00:00Z')

/** A warehouse of eight days, made once, and a platform whose responses the test may change. */
async function stage() {
  const platform: { intercept: Intercept } = { intercept: () => undefined }
  const emulator = await standIn({
    users: 6,
    now: () => NOW,
    intercept: (request) => platform.intercept(request),
  })
  const { data } = await restoredFolder('eight days', async (folder) => {
    const made = await command(['run', '--log', 'none'], environmentOf(emulator, folder))
    expect(made, made.err).toMatchObject({ code: 0 })
  })
  const environment = environmentOf(emulator, data)
  const run = (...args: string[]): Promise<Outcome> =>
    command([...args, '--log', 'none'], environment)
  return { platform, data, environment, run }
}

/** Answers requests for the users of a day with 404. */
const notFound =
  (day: string): Intercept =>
  ({ path, query }) =>
    path.endsWith('/users') && query.get('startDate') === day
      ? new Response('{"title":"Gone"}', { status: 404 })
      : undefined

interface Report {
  readonly is_equal: boolean
  readonly compared: { readonly days: readonly string[]; readonly rows: number }
  readonly differences: readonly { readonly activity_date: string; readonly table: string }[]
  readonly damaged_files: readonly { readonly resource: string; readonly reason: string }[]
  readonly not_compared: readonly object[]
  readonly fix: readonly string[]
}

async function report(run: (...args: string[]) => Promise<Outcome>, ...args: string[]) {
  const { code, out, err } = await run('verify', '--json', ...args)
  return { code, err, report: JSON.parse(out) as Report }
}

/** Changes the published file as another program would. */
async function tamper(data: string, sql: string): Promise<void> {
  const database = await Database.open(join(data, 'warehouse.duckdb'))
  await database.run(`${sql}; checkpoint`)
  database.close()
}

/** Path and SHA-256 of every file that a verification must not change. */
async function hashesOf(data: string): Promise<Record<string, string>> {
  const entries = await readdir(data, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => /lake|ledger|warehouse\.duckdb/.test(path))
  const hashes = await Promise.all(paths.map((path) => sha256OfFile(path)))
  return Object.fromEntries(paths.map((path, index) => [path, hashes[index] ?? '']))
}

async function fixWith(run: (...args: string[]) => Promise<Outcome>, commands: readonly string[]) {
  for (const line of commands) {
    const outcome = await run(...line.split(' ').slice(1))
    expect(outcome, outcome.err).toMatchObject({ code: 0 })
  }
}

async function answerOf(answer: () => Promise<Response>) {
  const response = await answer()
  const { headers, status } = response
  return { headers, status, text: await response.clone().text() }
}

/** Adds one to the credits of every user on a day. */
const restating =
  (day: string): Intercept =>
  async ({ path, query, answer }) => {
    if (!path.endsWith('/users') || query.get('startDate') !== day) return undefined
    const { headers, status, ...original } = await answerOf(answer)
    const changed = original.text.replaceAll(
      /"billable_tokens":(\d+)(\.\d+)?/g,
      (_, value: string, fraction = '') => `"billable_tokens":${Number(value) + 1}${fraction}`,
    )
    return new Response(changed, { status, headers })
  }

/** The 16th, the day before and the day after. */
const AROUND = ['--from', '2026-01-15', '--to', '2026-01-17']

describe('verify', () => {
  it('compares a sample that includes yesterday, or every day of a range, and changes no file but its run record', async () => {
    const { data, run } = await stage()
    const before = await hashesOf(data)
    const sample = await report(run, '--days', '2')
    expect(sample).toMatchObject({ code: 0, report: { is_equal: true, differences: [] } })
    expect(sample.report.compared.days).toHaveLength(2)
    expect(sample.report.compared.days[1]).toBe('2026-01-21')
    const range = await report(run, '--from', '2026-01-15', '--to', '2026-01-17')
    expect(range).toMatchObject({ code: 0, report: { is_equal: true, differences: [] } })
    expect(range.report.compared.days).toEqual(['2026-01-15', '2026-01-16', '2026-01-17'])
    const text = await run('verify', '--days', '1')
    expect(text.out).toMatch(/^Equal: .*\(1 day of 8, /)
    const none = await run('verify', '--from', '2026-01-22')
    expect(none.code).toBe(2)
    expect(none.err).toContain('no day to verify')
    expect(await hashesOf(data)).toEqual(before)
    expect(await readdir(join(data, 'state'))).not.toContain('verify')
    const records = await Promise.all(
      (await readdir(join(data, 'runs'))).map(
        async (name) => JSON.parse(await readFile(join(data, 'runs', name), 'utf8')) as object,
      ),
    )
    expect(records).toContainEqual(
      expect.objectContaining({
        command: 'verify',
        status: 'complete',
        totals: expect.objectContaining({ asked: 24, landed: 0, failed: 0, left: 0 }) as object,
      }),
    )
  })

  it('finds a changed value, a missing row and an extra row, and prints the commands that fix them', async () => {
    const { data, run } = await stage()
    await tamper(
      data,
      `update fct_org_day set sessions = sessions + 1 where activity_date = '2026-01-15';
       update fct_org_day set git_commits = null where activity_date = '2026-01-20';
       delete from fct_client_day where activity_date = '2026-01-16' and client = 'web';
       insert into fct_tool_day
         select * from fct_tool_day where activity_date = '2026-01-17' limit 1`,
    )
    const { code, err, report: found } = await report(run, '--all')
    expect(code).toBe(6)
    expect(err).toContain('differs from what the platform serves')
    const day = (date: string) => expect.objectContaining({ activity_date: date }) as object
    expect(found.differences).toEqual([
      expect.objectContaining({
        table: 'fct_client_day',
        activity_date: '2026-01-16',
        kind: 'missing',
        key: { client: 'web' },
      }),
      expect.objectContaining({ table: 'fct_org_day', column: 'sessions', kind: 'value' }),
      expect.objectContaining({ column: 'git_commits', warehouse: null }),
      expect.objectContaining({ table: 'fct_tool_day', kind: 'extra' }),
    ])
    expect(found.differences).toEqual(
      ['2026-01-16', '2026-01-15', '2026-01-20', '2026-01-17'].map(day),
    )
    expect(found.fix).toEqual([
      'agent-warehouse sync --refetch --from 2026-01-15 --to 2026-01-17',
      'agent-warehouse sync --refetch --from 2026-01-20 --to 2026-01-20',
      'agent-warehouse build --full-refresh',
    ])
    const text = await run('verify', '--all')
    expect(text.code).toBe(6)
    expect(text.out).toMatch(/^Different: 2 values .*1 row missing .*1 row that the platform/)
    expect(text.out).toContain('client=web: the warehouse has no such row')
    expect(text.out).toContain('git_commits is NULL in the warehouse')
    await fixWith(run, found.fix)
    const fixed = await run('verify', '--all')
    expect(fixed, fixed.err).toMatchObject({ code: 0 })
    expect(fixed.out).toMatch(/^Equal: .*all 8 days, 17 tables, \d+ rows, [\d,]+ values; 64 raw/)
  })

  it('finds a day that the platform restated since its last recheck', async () => {
    const { platform, run } = await stage()
    platform.intercept = restating('2026-01-16')
    const { code, report: found } = await report(run, ...AROUND)
    expect(code).toBe(6)
    expect(new Set(found.differences.map(({ table }) => table))).toEqual(
      new Set(['fct_user_day', 'fct_reconciliation']),
    )
    expect(found.differences.every(({ activity_date }) => activity_date === '2026-01-16')).toBe(
      true,
    )
    expect(found.fix[0]).toBe('agent-warehouse sync --refetch --from 2026-01-16 --to 2026-01-16')
  })

  it('finds a raw file with a flipped bit, and a missing one', async () => {
    const { data, run } = await stage()
    const folder = join(data, 'lake', 'raw', 'tokens', 'org=org_demo', 'date=2026-01-18')
    const [name = ''] = await readdir(folder)
    const bytes = await readFile(join(folder, name))
    bytes[100] = (bytes[100] ?? 0) ^ 1
    await writeFile(join(folder, name), bytes)
    await rm(join(data, 'lake', 'raw', 'tools', 'org=org_demo', 'date=2026-01-17'), {
      recursive: true,
    })
    const { code, report: found } = await report(run, '--from', '2026-01-17', '--to', '2026-01-18')
    expect(code).toBe(6)
    expect(found.differences).toEqual([])
    expect(found.damaged_files).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ resource: 'tokens', activity_date: '2026-01-18' }),
        expect.objectContaining({
          resource: 'tools',
          activity_date: '2026-01-17',
          reason: 'it does not exist',
        }),
      ]),
    )
    expect(found.damaged_files).toHaveLength(2)
    expect(found.fix[0]).toContain('--from 2026-01-17 --to 2026-01-18')
  })

  it('lists days that the warehouse does not have, and does not count them as differences', async () => {
    const { data, run } = await stage()
    const day = join(data, 'lake', 'raw', 'users', 'org=org_demo', 'date=2026-01-16')
    for (const gone of [day, join(data, 'lake', 'base', 'users')])
      await rm(gone, { recursive: true })
    expect((await run('build')).code).toBe(3)
    const { code, out } = await run('verify', ...AROUND)
    expect(code).toBe(0)
    expect(out).toContain('not compared: users 2026-01-16 of org_demo: not in the warehouse')
  })

  it('ends with exit code 3 when the platform does not serve a day again', async () => {
    const { platform, run } = await stage()
    platform.intercept = notFound('2026-01-16')
    const { code, report: found } = await report(run, ...AROUND)
    expect(code).toBe(3)
    expect(found.compared.days).toEqual(['2026-01-15', '2026-01-17'])
    expect(found.not_compared).toEqual([
      expect.objectContaining({
        resource: 'users',
        activity_date: '2026-01-16',
        why: 'unanswered',
        error: expect.stringContaining('404 Gone') as string,
      }),
    ])
  })

  it('that was killed leaves a folder, which the next run removes', async () => {
    const { platform, data, environment, run } = await stage()
    const victim = spawn(process.execPath, [MAIN, 'verify', '--all', '--log', 'none'], {
      env: { PATH: process.env['PATH'] ?? '', ...MACHINE, ...environment },
      stdio: 'ignore',
    })
    platform.intercept = ({ path }) => {
      if (path.endsWith('/users')) victim.kill('SIGKILL')
      return undefined
    }
    await once(victim, 'exit')
    expect(await readdir(join(data, 'state'))).toContain('verify')
    platform.intercept = () => undefined
    expect(await run('sync')).toMatchObject({ code: 0 })
    expect(await readdir(join(data, 'state'))).not.toContain('verify')
  })

  it.each([
    [['--days', '0'], /--days: 0/],
    [['--all', '--days', '3'], /--all means every day/],
    [['--from', '2026-02-02', '--to', '2026-02-01'], /--from 2026-02-02 is after/],
  ])('with %j ends with exit code 2', async (args, message) => {
    const { environment } = await nothingYet()
    const { code, err } = await command(['verify', ...args], environment)
    expect(code).toBe(2)
    expect(err).toMatch(message)
  })

  it('without a published warehouse ends with exit code 2 before any request', async () => {
    const { emulator, environment } = await nothingYet()
    const { code, err } = await command(['verify', '--log', 'none'], environment)
    expect(code).toBe(2)
    expect(err).toContain('agent-warehouse run')
    expect(emulator.requests).toEqual([])
  })
})

async function nothingYet() {
  const emulator = await standIn({ users: 3, now: () => NOW })
  return { emulator, environment: environmentOf(emulator, await temporaryFolder()) }
}
