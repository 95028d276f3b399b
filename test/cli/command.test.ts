import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startEmulator } from '../../src/emulator/emulator.ts'
import { command, type Outcome } from '../command.ts'
import { ask, filesIn, lines, NOW, stage } from './command-stage.ts'

describe('bad usage ends with 2 and one line, and touches nothing', () => {
  it.each<[string, string[], RegExp]>([
    ['an unknown option', ['sync', '--form', '2026-02-01'], /Unknown argument: form/],
    ['a group without what to do', ['controls'], /Name what to do/],
    ['an argument that is missing', ['query'], /Not enough/],
    ['an unknown command', ['snyc'], /Did you mean sync|Unknown/],
    ['no command', [], /Name a command/],
    ['a bad date', ['sync', '--from', '2026-02-30'], /--from: '2026-02-30' is not a date/],
    [
      'a range that ends before it begins',
      ['run', '--from', '2026-02-02', '--to', '2026-02-01'],
      /--from 2026-02-02 is after --to 2026-02-01/,
    ],
    ['an unknown resource', ['sync', '--only', 'users,bots'], /no resource 'bots'/],
    ['a rate of nothing', ['sync', '--rate', '0'], /--rate/],
    ['a duration that is none', ['sync', '--max-duration', 'soon'], /--max-duration: 'soon'/],
    ['a time that is none', ['build', '--as-of', '2026-02-03T05:00'], /'2026-02-03T05:00' is not/],
    [
      'a part as it was known',
      ['build', '--as-of', '2026-02-03', '--select', 'dim_user'],
      /as-of and select/,
    ],
    ['an unknown export', ['export', 'punchcards'], /punchcards/],
    ['a configuration file that is not there', ['run', '--config', 'no.yaml'], /no\.yaml/],
  ])('%s', async (_, args, told) => {
    const { emulator, data, environment } = await stage()
    const { code, out, err } = await command(args, environment)
    expect(code).toBe(2)
    expect(out).toBe('')
    expect(lines(err)[0]).toMatch(told)
    expect(lines(err).length).toBeLessThanOrEqual(2)
    expect(await readdir(data)).toEqual([])
    expect(emulator.requests).toEqual([])
  })

  it.each([{ AGENT_API_KEY: '' }, { AGENT_API_KEY: '  ' }])(
    'no key: how to get one (%j)',
    async (key) => {
      const { data, environment } = await stage()
      const { code, err } = await command(['run'], { ...environment, ...key })
      expect(code).toBe(2)
      expect(err).toContain('AGENT_API_KEY is not set')
      expect(err).toContain('/settings/api-keys')
      expect(await readdir(data)).toEqual([])
    },
  )

  it.each(['AGENT_BASE_URL', 'AGENT_APP_URL'])(
    'a key over plain http to another machine (%s)',
    async (variable) => {
      const { environment } = await stage()
      const url = { [variable]: 'http://api.example.com' }
      const { code, err } = await command(['run'], { ...environment, ...url })
      expect(code).toBe(2)
      expect(err).toContain('is not https')
    },
  )

  it('a data folder that cannot be written', async () => {
    const { environment, data } = await stage()
    await writeFile(join(data, 'file'), '')
    const folder = { AGENT_WAREHOUSE_DATA: join(data, 'file', 'data') }
    const { code, err } = await command(['run'], { ...environment, ...folder })
    expect(code).toBe(2)
    expect(lines(err)[0]).toContain('cannot be written or read: it is a file, or in one')
  })

  it('a data folder where the system has none', async () => {
    const { environment } = await stage()
    const folder = { AGENT_WAREHOUSE_DATA: '/proc/agent-warehouse/data' }
    const { code, err } = await command(['run'], { ...environment, ...folder })
    expect(code).toBe(2)
    expect(lines(err)[0]).toContain('cannot be written')
  })

  it.each(['a?b', '[ab]', 'a*b', 'back\\slash', 'new\nline', 'a\u001bb'])(
    'a data folder that the engine would take for another: %j',
    async (name) => {
      const { emulator, data, environment } = await stage()
      const folder = { AGENT_WAREHOUSE_DATA: join(data, name, 'data') }
      for (const args of [['run'], ['query', 'select 1'], ['status']]) {
        const { code, err } = await command(args, { ...environment, ...folder })
        expect({ code, lines: lines(err).length }).toEqual({ code: 2, lines: 2 })
        expect(err).toContain('in its path')
      }
      expect(await readdir(data)).toEqual([])
      expect(emulator.requests).toEqual([])
    },
  )

  it.each([['query', 'select 1'], ['export', 'csv'], ['build'], ['rebuild'], ['verify']])(
    'nothing there yet: %s',
    async (...args) => {
      const { environment } = await stage()
      const { code, err } = await command(args, environment)
      expect(code).toBe(2)
      expect(err).toContain('agent-warehouse run')
    },
  )
})

describe('a range without a day of history, in a new folder', () => {
  const ranges = [
    ['--from', '2026-02-03'],
    ['--from', '2026-02-04', '--to', '2026-02-09'],
    ['--to', '2026-01-13'],
    ['--from', '2025-01-01', '--to', '2025-12-31'],
    ['--from', '2026-02-03', '--only', 'tokens,users'],
  ]
  it.each(ranges.map((range) => [range.join(' '), range] as const))(
    'is nothing due: %s',
    async (_, range) => {
      const { data, environment } = await stage()
      for (const verb of ['run', 'sync', 'plan']) {
        const { code, out, err } = await command([verb, ...range], environment)
        expect({ code, err: err.match(/Error|agent-warehouse:/) }).toEqual({ code: 0, err: null })
        expect(out).toMatch(/nothing is due|nothing was due/)
      }
      expect(await readdir(data)).not.toContain('warehouse.duckdb')
    },
  )

  it('leaves nothing to build, and says so in one line and what to do', async () => {
    const { environment } = await stage()
    await command(['run', '--from', '2026-02-03', '--log', 'none'], environment)
    const verbs = [['build'], ['rebuild'], ['query', 'select 1'], ['verify'], ['export', 'csv']]
    for (const args of [...verbs, ['rollback']]) {
      const log = ['query'].includes(args[0] ?? '') ? [] : ['--log', 'none']
      const { code, err } = await command([...args, ...log], environment)
      expect({ args, code, lines: lines(err).length }).toEqual({ args, code: 2, lines: 2 })
    }
    for (const args of [['status'], ['plan'], ['doctor'], ['rollback', '--list']]) {
      const { code, err } = await command(args, environment)
      expect({ args, code, err }).toEqual({ args, code: 0, err: '' })
    }
  })
})

describe('help', () => {
  it.each([
    'run',
    'sync',
    'plan',
    'build',
    'status',
    'query',
    'export',
    'verify',
    'rebuild',
    'doctor',
    'emulate',
    'demo',
  ])('of %s has an example', async (name) => {
    const { code, out } = await command([name, '--help'])
    expect(code).toBe(0)
    expect(out).toContain('Examples:')
    expect(out).toContain(`agent-warehouse ${name}`)
  })
})

describe('a night', () => {
  it('lands, builds and publishes; the same night again asks for nothing and changes nothing', async () => {
    const { emulator, data, environment } = await stage()
    const first = await command(['run'], environment)
    expect(first, first.err).toMatchObject({ code: 0 })
    expect(lines(first.out)[0]).toContain('Complete')
    expect(emulator.requests.every(({ path }) => !path.includes('2026-02-03'))).toBe(true)

    const marts = await martsOf(environment)
    const lake = await filesIn(join(data, 'lake', 'raw'))
    const asked = emulator.requests.length
    const second = await command(['run'], environment)
    expect(second, second.err).toMatchObject({ code: 0 })
    const again = emulator.requests.slice(asked).map(({ path }) => path)
    expect(again.filter((path) => path.includes('/analytics/')).length).toBeLessThanOrEqual(2)
    expect(await martsOf(environment)).toEqual(marts)
    expect(await filesIn(join(data, 'lake', 'raw'))).toEqual(lake)
  })

  it('is on record: in runs/, in meta.runs, and every interval in meta.intervals', async () => {
    const { data, environment } = await stage()
    await command(['run'], environment)
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

  it('with a broken day publishes the rest, says which, and ends with 3; the next night mends it', async () => {
    let isBroken = true
    const { environment } = await stage({
      intercept: ({ path, query }) =>
        isBroken && path.endsWith('/users') && query.get('startDate') === '2026-01-22'
          ? new Response('{"title":"Not found"}', { status: 404 })
          : undefined,
    })
    const night = await command(['run', '--log', 'none'], environment)
    expect(night, night.err).toMatchObject({ code: 3 })
    expect(night.out).toContain('2026-01-22')
    const failed = `select resource, activity_date from meta.intervals where status = 'failed'`
    expect(await ask(environment, failed)).toEqual([
      { resource: 'users', activity_date: '2026-01-22' },
    ])
    isBroken = false
    expect(await command(['run', '--log', 'none'], environment)).toMatchObject({ code: 0 })
    expect(await ask(environment, failed)).toEqual([])
  })

  it('that reaches nobody says so, ends with 3, and leaves what was published', async () => {
    const { data, environment } = await stage()
    await command(['run', '--log', 'none'], environment)
    const published = await readFile(join(data, 'warehouse.duckdb'))
    const nobody = { AGENT_BASE_URL: 'http://127.0.0.1:1' }
    const night = await command(['run', '--log', 'none'], { ...environment, ...nobody })
    expect(night.code).toBe(3)
    expect(night.err).toContain('could not be reached')
    expect(published.equals(await readFile(join(data, 'warehouse.duckdb')))).toBe(true)
  })

  it('that is told to wait longer than it may last ends with 4 and what it has', async () => {
    let served = 0
    const { environment } = await stage({
      intercept: () =>
        (served += 1) > 12
          ? new Response('{"title":"Too many"}', {
              status: 429,
              headers: { 'retry-after': '3600' },
            })
          : undefined,
    })
    const night = await command(['run', '--max-duration', '10m', '--log', 'none'], environment)
    expect(night, night.err).toMatchObject({ code: 4 })
    expect(lines(night.out)[0]).toContain('Deferred')
    expect(await ask(environment, 'select count(*) > 0 as some from fct_org_day')).toEqual([
      { some: true },
    ])
  })

  it('of two at once: the second says who holds the lock and ends with 7; readers go on', async () => {
    const gate: { open?: () => void } = {}
    const held = new Promise<void>((resolve) => (gate.open = resolve))
    let isHeld = false
    const { environment } = await stage({
      intercept: async ({ number, answer }) => {
        if (!isHeld || number < 2) return undefined
        await held
        return answer()
      },
    })
    await command(['run', '--log', 'none'], environment)
    isHeld = true
    const refetch = ['sync', '--refetch', '--only', 'tokens', '--log', 'none']
    const slow = command(refetch, environment)
    const busy = await untilRunning(environment)
    expect(busy.out).toContain('running')
    expect(await ask(environment, 'select count(*) > 0 as some from fct_org_day')).toEqual([
      { some: true },
    ])
    const second = await command(['run', '--log', 'none'], environment)
    expect(second.code).toBe(7)
    expect(second.err).toMatch(/in use by run .* \(process \d+/)
    gate.open?.()
    expect((await slow).code).toBe(0)
  })
})

describe('the plan', () => {
  it('says what is due and why, without asking', async () => {
    const { emulator, environment } = await stage()
    const { code, out } = await command(
      ['plan', '--json', '--only', 'tokens', '--to', '2026-01-15'],
      environment,
    )
    expect(code).toBe(0)
    expect(JSON.parse(out)).toEqual([
      {
        org_id: null,
        requests: 1,
        tasks: [
          {
            resource: 'tokens',
            from: '2026-01-14',
            to: '2026-01-15',
            days: [
              { activity_date: '2026-01-14', reason: 'missing' },
              { activity_date: '2026-01-15', reason: 'missing' },
            ],
          },
        ],
        beside: [],
      },
    ])
    expect(emulator.requests).toEqual([])
  })
})

describe('a file of configuration', () => {
  it('lists organisations, each with the name of its key’s variable, and the exports', async () => {
    const { emulator, data } = await stage()
    const other = await startEmulator({ users: 5, seed: 2, orgId: 'org_two', now: () => NOW })
    onTestFinished(() => other.close())
    const file = join(data, 'agent-warehouse.yaml')
    await writeFile(
      file,
      `data: ${join(data, 'warehouse')}
rate: 2000
exports: [csv]
organisations:
  - { name: one, base_url: '${emulator.url}', key_env: ONE_KEY }
  - { name: two, base_url: '${other.url}', key_env: TWO_KEY }
`,
    )
    const keys = { ONE_KEY: emulator.keys.manager, TWO_KEY: other.keys.owner }
    const night = await command(['run', '--config', file, '--log', 'none'], keys)
    expect(night, night.err).toMatchObject({ code: 0 })
    const { out } = await command(
      [
        'query',
        'select org_id, count(*) > 0 as some from fct_org_day group by 1 order by 1',
        '--json',
        '--config',
        file,
      ],
      keys,
    )
    expect(JSON.parse(out)).toEqual([
      { org_id: 'org_demo', some: true },
      { org_id: 'org_two', some: true },
    ])
    expect(await readdir(join(data, 'warehouse', 'exports', 'csv'))).toContain('fct_org_day.csv')
  })
})

async function martsOf(environment: Record<string, string>): Promise<unknown> {
  const tables = ['fct_org_day', 'fct_user_day', 'fct_tool_day', 'dim_user', 'mart_spend_month']
  return Promise.all(tables.map((table) => ask(environment, `from ${table} order by all`)))
}

/** Asks for the status until a run is under way. */
async function untilRunning(environment: Record<string, string>): Promise<Outcome> {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const status = await command(['status'], environment)
    if (/^running/m.test(status.out)) return status
  }
  throw new Error('no run is under way')
}
