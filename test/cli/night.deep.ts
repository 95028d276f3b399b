import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { EmulatorOptions } from '../../src/emulator/emulator.ts'
import { MS_PER_DAY } from '../../src/lib/days.ts'
import { command, type Outcome } from '../support/command.ts'
import { restoredFolder } from '../support/folders.ts'
import { ask, filesIn, lines, NOW, stage } from './command-stage.ts'
import { execute } from './published-stage.ts'

const NEXT_DAY = NOW + MS_PER_DAY

/** A first night, which lands, builds and publishes; once for the tests of this file. */
let first: { outcome: Outcome; requests: readonly string[] } | undefined

/** A copy of the data folder after the first night, and a platform of the test's own. */
async function afterFirst(options: Partial<EmulatorOptions> = {}) {
  const { data } = await restoredFolder('first night', async (folder) => {
    const { emulator, environment } = await stage()
    const outcome = await command(['run'], { ...environment, AGENT_WAREHOUSE_DATA: folder })
    first = { outcome, requests: emulator.requests.map(({ path }) => path) }
  })
  if (first === undefined) throw new Error('there was no first night')
  const { emulator, environment } = await stage(options)
  return {
    ...{ emulator, data, first },
    environment: { ...environment, AGENT_WAREHOUSE_DATA: data },
  }
}

describe('a night', () => {
  it('lands, builds and publishes; a second run at the same time fetches no day and changes nothing', async () => {
    const { emulator, data, environment, first } = await afterFirst()
    expect(first.outcome, first.outcome.err).toMatchObject({ code: 0 })
    expect(lines(first.outcome.out)[0]).toContain('Complete')
    expect(first.requests.every((path) => !path.includes('2026-02-03'))).toBe(true)

    const marts = await martsOf(environment)
    const lake = await filesIn(join(data, 'lake', 'raw'))
    const second = await command(['run'], environment)
    expect(second, second.err).toMatchObject({ code: 0 })
    const again = emulator.requests.map(({ path }) => path)
    expect(again.filter((path) => path.includes('/analytics/')).length).toBeLessThanOrEqual(2)
    expect(await martsOf(environment)).toEqual(marts)
    expect(await filesIn(join(data, 'lake', 'raw'))).toEqual(lake)
  })

  it('is recorded in runs/ and meta.runs, with every interval in meta.intervals', async () => {
    const { data, environment } = await afterFirst()
    const [name] = await readdir(join(data, 'runs'))
    const record = JSON.parse(await readFile(join(data, 'runs', name ?? ''), 'utf8')) as object
    expect(record).toMatchObject({ command: 'run', status: 'complete', exit_code: 0 })
    expect(
      await ask(
        environment,
        'select status, exit_code, finished_at is null as is_open from meta.runs',
      ),
    ).toEqual([{ status: 'complete', exit_code: 0, is_open: false }])
    expect(
      await ask(
        environment,
        `select status, count(*) as days, count(distinct resource) as resources, min(activity_date) as first,
           bool_or(is_suspect) as has_suspects
         from meta.intervals where activity_date < '2026-02-03' group by 1 order by 1`,
      ),
    ).toEqual([
      { status: 'empty', days: 8, resources: 8, first: '2026-01-19', has_suspects: false },
      { status: 'landed', days: 19 * 8, resources: 8, first: '2026-01-14', has_suspects: false },
    ])
  })

  it('with a failed day publishes the rest, names the day and exits with code 3; the next night fetches it', async () => {
    let isBroken = true
    const { environment } = await afterFirst({
      now: () => NEXT_DAY,
      intercept: ({ path, query }) =>
        isBroken && path.endsWith('/users') && query.get('startDate') === '2026-02-03'
          ? new Response('{"title":"Not found"}', { status: 404 })
          : undefined,
    })
    const night = await execute(['run', '--log', 'none'], environment)
    expect(night, night.err).toMatchObject({ code: 3 })
    expect(night.out).toContain('2026-02-03')
    const states = `select status, list(resource order by resource) as resources from meta.intervals
      where activity_date = '2026-02-03' group by 1 order by 1`
    expect(await ask(environment, states)).toEqual([
      { status: 'failed', resources: ['users'] },
      { status: 'landed', resources: expect.arrayContaining(['activity', 'tokens']) as unknown },
    ])
    isBroken = false
    expect(await execute(['run', '--log', 'none'], environment)).toMatchObject({ code: 0 })
    expect(await ask(environment, states)).toEqual([
      { status: 'landed', resources: expect.arrayContaining(['users']) as unknown },
    ])
  })

  it('that cannot reach the platform says so, exits with code 3 and keeps the published warehouse', async () => {
    const { data, environment } = await afterFirst()
    const published = await readFile(join(data, 'warehouse.duckdb'))
    const unreachable = { ...environment, AGENT_BASE_URL: 'http://127.0.0.1:1' }
    const night = await execute(['run', '--log', 'none'], unreachable)
    expect(night.code).toBe(3)
    expect(night.err).toContain('could not be reached')
    expect(published.equals(await readFile(join(data, 'warehouse.duckdb')))).toBe(true)
  })

  it('that must wait beyond --max-duration exits with code 4 and publishes what has landed', async () => {
    let served = 0
    const { environment } = await afterFirst({
      now: () => NEXT_DAY,
      intercept: () =>
        (served += 1) > 8
          ? new Response('{"title":"Too many"}', {
              status: 429,
              headers: { 'retry-after': '3600' },
            })
          : undefined,
    })
    const night = await execute(['run', '--max-duration', '10m', '--log', 'none'], environment)
    expect(night, night.err).toMatchObject({ code: 4 })
    expect(lines(night.out)[0]).toContain('Deferred')
    const landed = `select count(*) > 0 as some from meta.intervals
      where activity_date = '2026-02-03' and status = 'landed' and resource in ('activity', 'tokens')`
    expect(await ask(environment, landed)).toEqual([{ some: true }])
    const runs = 'select status, exit_code from meta.runs order by run_id'
    expect(await ask(environment, runs)).toEqual([
      { status: 'complete', exit_code: 0 },
      { status: 'deferred', exit_code: 4 },
    ])
  })

  it('that starts during another names the lock holder and exits with code 7; queries work meanwhile', async () => {
    const gate: { open?: () => void } = {}
    const held = new Promise<void>((resolve) => (gate.open = resolve))
    const { environment } = await afterFirst({
      intercept: async ({ answer }) => {
        await held
        return answer()
      },
    })
    const refetch = ['sync', '--refetch', '--only', 'tokens', '--log', 'none']
    const slow = command(refetch, environment)
    const busy = await untilRunning(environment)
    expect(busy.out).toContain('running')
    expect(await ask(environment, 'select count(*) > 0 as some from fct_org_day')).toEqual([
      { some: true },
    ])
    const second = await execute(['run', '--log', 'none'], environment)
    expect(second.code).toBe(7)
    expect(second.err).toMatch(/in use by run .* \(process \d+/)
    gate.open?.()
    expect((await slow).code).toBe(0)
  })
})

async function martsOf(environment: Record<string, string>): Promise<unknown> {
  const tables = ['fct_org_day', 'fct_user_day', 'fct_tool_day', 'dim_user', 'mart_spend_month']
  return Promise.all(tables.map((table) => ask(environment, `from ${table} order by all`)))
}

/** Repeats `status` until a run is in progress. */
async function untilRunning(environment: Record<string, string>): Promise<Outcome> {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const status = await execute(['status'], environment)
    if (/^running/m.test(status.out)) return status
  }
  throw new Error('no run is in progress')
}
