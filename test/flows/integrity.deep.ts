import { readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Database, type Row } from '../../src/lib/duckdb.ts'
import { writeAtomic } from '../../src/lib/files.ts'
import { command } from '../support/command.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { martsOf, MS_PER_DAY, publishedNight } from './published.ts'

async function runQuery(data: string, sql: string): Promise<Row[]> {
  await using database = await Database.open(join(data, 'warehouse.duckdb'), { readOnly: true })
  return await database.rows(sql)
}

async function statusOf(data: string): Promise<Row[]> {
  return runQuery(
    data,
    `select resource, cast(activity_date as varchar) as day from meta.intervals
     where status = 'missing' order by all`,
  )
}

async function flipBitIn(folder: string): Promise<void> {
  const [name = ''] = await readdir(folder)
  const path = join(folder, name)
  const bytes = await readFile(path)
  const at = bytes.length >> 1
  bytes[at] = (bytes[at] ?? 0) ^ 1
  await writeFile(path, bytes)
}

const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '')

describe('a raw file with a flipped bit', () => {
  it('reaches no mart: its day is reported missing, and the next run fetches it again', async () => {
    const { clock, data, work } = await publishedNight()
    const folder = 'tokens/org=org_demo/date=2026-01-22'
    await flipBitIn(join(data, 'lake/raw', folder))
    clock.now += MS_PER_DAY
    const hurt = await work('sync', '--only', 'users,activity,tokens_by_model')
    expect(hurt, hurt.err).toMatchObject({ code: 0 })
    await flipBitIn(join(data, 'lake/raw/activity/org=org_demo/date=2026-01-20'))
    await rm(join(data, 'lake/base/activity_days'), { recursive: true })
    const built = await work('build')
    expect(built, built.err).toMatchObject({ code: 3 })
    expect(built.out).toMatch(/^Partial:/)
    expect(built.out).toContain('activity 2026-01-20 of org_demo')
    expect(lines(built.err)[0]).toContain('a file of the lake was damaged')
    expect(await statusOf(data)).toContainEqual({ resource: 'activity', day: '2026-01-20' })
    expect(await readdir(join(data, 'quarantine/activity/org=org_demo'))).toEqual([
      'date=2026-01-20',
    ])

    const fetched = await work('run')
    expect(fetched, fetched.err).toMatchObject({ code: 0 })
    expect(fetched.out).toContain('tokens 2026-01-22 of org_demo')
    expect(await statusOf(data)).toEqual([])
    expect(await readdir(join(data, 'quarantine/tokens/org=org_demo'))).toEqual(['date=2026-01-22'])
  })
})

it('a build reports a raw file that is gone, although base still has its rows', async () => {
  const { data, work } = await publishedNight()
  const before = await martsOf(data)
  await rm(join(data, 'lake/raw/tools/org=org_demo/date=2026-01-23'), { recursive: true })
  const built = await work('build')
  expect(built, built.err).toMatchObject({ code: 3 })
  expect(built.out).toContain('tools 2026-01-23')
  expect(lines(built.err)[0]).toContain('a file of the lake was damaged or gone')
  expect(await statusOf(data)).toEqual([{ resource: 'tools', day: '2026-01-23' }])
  expect(await work('run')).toMatchObject({ code: 0 })
  expect(await martsOf(data)).toEqual(before)
})

it('a build with --as-of refuses a raw file with a flipped bit, and publishes nothing', async () => {
  const { clock, data, work } = await publishedNight()
  const before = await martsOf(data)
  await flipBitIn(join(data, 'lake/raw/users/org=org_demo/date=2026-01-22'))
  const past = await work('build', '--as-of', new Date(clock.now).toISOString().slice(0, 10))
  expect(past, past.err).toMatchObject({ code: 1 })
  expect(past.err).toContain('users 2026-01-22 of org_demo')
  expect(past.err).toContain('agent-warehouse rebuild moves damaged files to quarantine')
  expect(await martsOf(data)).toEqual(before)
})

it('a build with --as-of that lacks a raw file is recorded as partial, as it ends', async () => {
  const { clock, data, work } = await publishedNight()
  await rm(join(data, 'lake/raw/tools/org=org_demo/date=2026-01-23'), { recursive: true })
  const past = await work('build', '--as-of', new Date(clock.now).toISOString().slice(0, 10))
  expect(past, past.err).toMatchObject({ code: 3 })
  const last = await runQuery(data, 'select status, exit_code from meta.runs order by started_at')
  expect(last.at(-1)).toEqual({ status: 'partial', exit_code: '3' })
})

it('a missing key of redacted secrets is reported by the run that makes a new one, and not by the next', async () => {
  const { data, work } = await publishedNight()
  const warning = 'state/redaction.key is missing: a new one is made'
  const sync = async () => (await work('sync', '--only', 'enterprise_controls')).out
  expect(await sync()).not.toContain(warning)
  await rm(join(data, 'state', 'redaction.key'))
  expect(await sync()).toContain(warning)
  expect(await sync()).not.toContain(warning)
})

describe('rebuild', () => {
  it('builds every mart again from raw, row for row and without a key', async () => {
    const { data, work, emulator, environment } = await publishedNight()
    const before = await martsOf(data)
    const key = await readFile(join(data, 'state/redaction.key'))
    for (const made of ['state', 'lake/base', 'warehouse.duckdb'])
      await rm(join(data, made), { recursive: true })
    await writeAtomic(join(data, 'state/redaction.key'), key) // it cannot be derived from raw
    const ofAnalytics = () => emulator.requests.filter(({ path }) => path.includes('/analytics/'))
    const [asked, analytics] = [emulator.requests.length, ofAnalytics().length]
    const offline = { AGENT_WAREHOUSE_DATA: environment.AGENT_WAREHOUSE_DATA }
    const rebuilt = await command(['rebuild', '--log', 'none'], offline)
    expect(rebuilt, rebuilt.err).toMatchObject({ code: 0 })
    expect(emulator.requests).toHaveLength(asked)
    expect(await martsOf(data)).toEqual(before)
    const next = await work('sync')
    expect(next, next.err).toMatchObject({ code: 0 })
    expect(ofAnalytics()).toHaveLength(analytics + 1)
  })

  it('quarantines damaged files and ends with exit code 3, and the next run completes the warehouse', async () => {
    const { data, work } = await publishedNight()
    const before = await martsOf(data)
    await flipBitIn(join(data, 'lake/raw/users/org=org_demo/date=2026-01-22'))
    await rm(join(data, 'lake/raw/tools/org=org_demo/date=2026-01-23'), { recursive: true })
    const rebuilt = await work('rebuild')
    expect(rebuilt, rebuilt.err).toMatchObject({ code: 3 })
    expect(await statusOf(data)).toEqual([
      { resource: 'tools', day: '2026-01-23' },
      { resource: 'users', day: '2026-01-22' },
    ])
    expect(await work('run')).toMatchObject({ code: 0 })
    expect(await martsOf(data)).toEqual(before)
  })

  it('of an empty data folder ends with exit code 2 and the next step', async () => {
    const rebuilt = await command(['rebuild'], { AGENT_WAREHOUSE_DATA: await temporaryFolder() })
    expect(rebuilt.code).toBe(2)
    expect(rebuilt.err).toContain('agent-warehouse run')
  })
})

describe('damaged files', () => {
  it('of the warehouse are reported in one line, and build replaces them', async () => {
    const { data, ask, work } = await publishedNight()
    const path = join(data, 'warehouse.duckdb')
    const whole = await martsOf(data)
    const refused = async (...args: string[]): Promise<void> => {
      const { code, err } = await ask(...args)
      expect(code, err).toBe(2)
      expect(lines(err)[0]).toContain(`the warehouse ${path} cannot be read`)
      expect(lines(err)).toHaveLength(2)
      expect(err).toContain('agent-warehouse build')
    }
    for (const damage of [
      async () => truncate(path, (await readFile(path)).length >> 1),
      () => truncate(path, 4096),
      () => truncate(path, 0),
      () => writeFile(path, 'Dear Sir or Madam,\n'.repeat(900)),
    ]) {
      await damage()
      await refused('query', 'from fct_org_day')
    }
    await refused('export', 'csv', '--log', 'none')
    const part = await ask('build', '--select', 'fct_org_day', '--log', 'none')
    expect(part).toMatchObject({ code: 2 })
    expect(part.err).toContain(
      `only some models are selected, but ${path} is not the file that was published`,
    )
    expect(await ask('status')).toMatchObject({ code: 0, err: '' })
    const built = await work('build')
    expect(built, built.err).toMatchObject({ code: 0 })
    expect(await martsOf(data)).toEqual(whole)
  })

  it('in state/ are reported and written again', async () => {
    const { data, work, ask } = await publishedNight()
    const whole = await martsOf(data)
    const ledger = join(data, 'state/ledger/org_demo.ndjson')
    await writeFile(join(data, 'state/organisations.json'), '{"default": {"orgId"')
    await writeFile(join(data, 'state/base/org_demo.json'), '\0\0\0\0')
    await writeFile(ledger, `}{ of another file\n${await readFile(ledger, 'utf8')}{"resource":"us`)
    for (const args of [['status'], ['plan'], ['query', 'select 1']])
      expect(await ask(...args)).toMatchObject({ code: 0, err: '' })
    const next = await work('run')
    expect(next, next.err).toMatchObject({ code: 0 })
    expect(next.out).toContain('organisations.json cannot be read and is written again')
    expect(next.out).toContain('org_demo.json cannot be read and is written again')
    expect(next.out).toContain('org_demo.ndjson: line 1 cannot be read')
    expect(await martsOf(data)).toEqual(whole)
    expect((await work('sync')).out).not.toContain('cannot be read')
  })
})
