import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { command } from '../support/command.ts'
import { lines, NOW, stage } from './command-stage.ts'
import { execute } from './published-stage.ts'
import { standIn } from '../support/stand-in.ts'

describe('bad usage', () => {
  it.each<[string, string[], RegExp]>([
    ['an unknown option', ['sync', '--form', '2026-02-01'], /Unknown argument: form/],
    ['a command group without a subcommand', ['controls'], /Name a subcommand/],
    ['an unknown command', ['snyc'], /there is no command 'snyc'$/],
    ['no command', [], /Name a command/],
    ['a bad date', ['sync', '--from', '2026-02-30'], /--from: '2026-02-30' is not a date/],
    [
      'a range whose end is before its start',
      ['run', '--from', '2026-02-02', '--to', '2026-02-01'],
      /--from 2026-02-02 is after --to 2026-02-01/,
    ],
    ['an unknown resource', ['sync', '--only', 'users,bots'], /no resource 'bots'/],
    ['a rate of zero', ['sync', '--rate', '0'], /--rate/],
    ['an invalid duration', ['sync', '--max-duration', 'soon'], /--max-duration: 'soon'/],
    [
      'a time without a time zone',
      ['build', '--as-of', '2026-02-03T05:00'],
      /'2026-02-03T05:00' is not/,
    ],
    [
      '--as-of together with --select',
      ['build', '--as-of', '2026-02-03', '--select', 'dim_user'],
      /as-of and select/,
    ],
    [
      'an unknown export target',
      ['export', 'punchcards'],
      /target: "punchcards" is not one of "parquet", "csv", "duckdb"$/,
    ],
    [
      'two formats',
      ['query', '--list', '--json', '--format', 'csv'],
      /--json and --format csv contradict each other$/,
    ],
    ['a burst without a rate', ['emulate', '--burst', '5', '--port', '0'], /burst -> rate$/],
    [
      'more users than the stand-in can make',
      ['emulate', '--users', '1000000000', '--port', '0'],
      /--users: 1000000000 is not a whole number from 1 to 1000000$/,
    ],
    ['a missing SQL statement', ['query'], /arguments: 0 given, at least 1 needed$/],
    ['a missing configuration file', ['run', '--config', 'no.yaml'], /no\.yaml/],
  ])(
    '%s exits with code 2 and an error message, without a request or a file',
    async (_, args, message) => {
      const { emulator, data, environment } = await stage()
      const { code, out, err } = await execute(args, environment)
      expect(code).toBe(2)
      expect(out).toBe('')
      expect(lines(err)[0]).toMatch(message)
      expect(lines(err).length).toBeLessThanOrEqual(2)
      expect(await readdir(data)).toEqual([])
      expect(emulator.requests).toEqual([])
    },
  )

  it('an SQL statement without quotes gets the hint to quote it, whatever the locale', async () => {
    const { environment } = await stage()
    const { code, err } = await command(['query', 'select', '1'], {
      ...environment,
      LC_ALL: 'de_DE.UTF-8',
    })
    expect(code).toBe(2)
    expect(lines(err)).toEqual([
      'agent-warehouse: Unknown argument: 1',
      '  Quote the statement: agent-warehouse query "select …". See --help.',
    ])
  })

  it.each([['-f'], ['--nothing-like-it=1']])(
    'an unknown option of query gets no hint about the statement: %s',
    async (option) => {
      const { environment } = await stage()
      const { code, err } = await execute(['query', option, 'select 1'], environment)
      expect(code).toBe(2)
      expect(lines(err)[1]).toBe('  See --help.')
    },
  )

  it('a setting that is not a number exits with code 2 and is named', async () => {
    const { environment, data } = await stage()
    const config = join(data, 'a.yaml')
    await writeFile(config, 'rate: fast\n', { mode: 0o600 })
    const { code, err } = await execute(['status', '--config', config], environment)
    expect(code).toBe(2)
    expect(lines(err)[0]).toMatch(/a\.yaml rate: must be a number above 0$/)
  })

  it.each(['', '  '])(
    'a missing key (%j) exits with code 2 and says where to create one',
    async (key) => {
      const { data, environment } = await stage()
      const { code, err } = await execute(['run'], { ...environment, AGENT_API_KEY: key })
      expect(code).toBe(2)
      expect(err).toContain('AGENT_API_KEY is not set')
      expect(err).toContain('/settings/api-keys')
      expect(await readdir(data)).toEqual([])
    },
  )

  it.each(['AGENT_BASE_URL', 'AGENT_APP_URL'])(
    'a key is not sent over plain http to another machine (%s)',
    async (variable) => {
      const { environment } = await stage()
      const url = { [variable]: 'http://api.example.com' }
      const { code, err } = await execute(['run'], { ...environment, ...url })
      expect(code).toBe(2)
      expect(err).toContain('is not https')
    },
  )

  it('a data folder inside a file exits with code 2', async () => {
    const { environment, data } = await stage()
    await writeFile(join(data, 'file'), '')
    const folder = { AGENT_WAREHOUSE_DATA: join(data, 'file', 'data') }
    const { code, err } = await execute(['run'], { ...environment, ...folder })
    expect(code).toBe(2)
    expect(lines(err)[0]).toContain('is a file, or is inside a file')
  })

  it('a data folder that the system cannot create exits with code 2', async () => {
    const { environment } = await stage()
    const folder = { AGENT_WAREHOUSE_DATA: '/proc/agent-warehouse/data' }
    const { code, err } = await execute(['run'], { ...environment, ...folder })
    expect(code).toBe(2)
    expect(lines(err)[0]).toContain('cannot be written')
  })

  it.each(['a?b', '[ab]', 'a*b', 'back\\slash', 'new\nline', 'a\u001bb', '~'])(
    'a data folder with a wildcard, backslash, control character or ~ in its path is refused: %j',
    async (name) => {
      const { emulator, data, environment } = await stage()
      const folder = { AGENT_WAREHOUSE_DATA: join(data, name, 'data') }
      for (const args of [['run'], ['query', 'select 1'], ['status']]) {
        const { code, err } = await execute(args, { ...environment, ...folder })
        expect({ code, lines: lines(err).length }).toEqual({ code: 2, lines: 2 })
        expect(err).toContain('in its path')
      }
      expect(await readdir(data)).toEqual([])
      expect(emulator.requests).toEqual([])
    },
  )

  it.each([
    ['query', 'select 1'],
    ['tables'],
    ['export', 'csv'],
    ['build'],
    ['rebuild'],
    ['rollback'],
    ['verify'],
  ])(
    '%s without a warehouse exits with code 2 and the next step, without progress output',
    async (...args) => {
      const { environment } = await stage()
      const { code, err } = await execute(args, environment)
      // The host and the source of the key are printed before the first request.
      const count = args[0] === 'verify' ? 5 : 2
      expect({ code, lines: lines(err).length }, err).toEqual({ code: 2, lines: count })
      expect(err).toMatch(/agent-warehouse run|A build keeps/)
    },
  )
})

describe('a date range outside the history, in a new data folder', () => {
  const ranges = [
    ['--from', '2026-02-04', '--to', '2026-02-09'],
    ['--to', '2026-01-13'],
    ['--from', '2025-01-01', '--to', '2025-12-31'],
    ['--from', '2026-02-03', '--only', 'tokens,users'],
  ]
  it.each(ranges.map((range) => [range.join(' '), range] as const))(
    'leaves nothing due for run, sync and plan: %s',
    async (_, range) => {
      const { data, environment } = await stage()
      for (const verb of ['run', 'sync', 'plan']) {
        const { code, out, err } = await execute([verb, ...range], environment)
        expect({ code, err: err.match(/Error|agent-warehouse:/) }).toEqual({ code: 0, err: null })
        expect(out).toMatch(/nothing is due|nothing was due/)
      }
      expect(await readdir(data)).not.toContain('warehouse.duckdb')
    },
  )

  it('leaves nothing to build or query: exit code 2, one line and the next step', async () => {
    const { environment } = await stage()
    const range = ['--from', '2026-02-04', '--to', '2026-02-09']
    await execute(['run', ...range, '--log', 'none'], environment)
    const verbs = [['build'], ['rebuild'], ['query', 'select 1'], ['verify'], ['export', 'csv']]
    for (const args of [...verbs, ['rollback']]) {
      const log = ['query'].includes(args[0] ?? '') ? [] : ['--log', 'none']
      const { code, err } = await execute([...args, ...log], environment)
      expect({ args, code, lines: lines(err).length }).toEqual({ args, code: 2, lines: 2 })
    }
    for (const args of [['status'], ['plan'], ['doctor'], ['rollback', '--list']]) {
      const { code, err } = await execute(args, environment)
      expect({ args, code, err }).toEqual({ args, code: 0, err: '' })
    }
  })
})

describe('plan', () => {
  it('lists the days that are due and why, without a request', async () => {
    const { emulator, environment } = await stage()
    const { code, out } = await execute(
      ['plan', '--json', '--only', 'tokens', '--to', '2026-01-15'],
      environment,
    )
    expect(code).toBe(0)
    expect(JSON.parse(out)).toEqual([
      {
        name: 'default',
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
        entities: [],
      },
    ])
    expect(emulator.requests).toEqual([])
  })
})

describe('a configuration file', () => {
  it('lists organisations, each with the variable of its key, and the exports', async () => {
    const { emulator, data } = await stage({ users: 3 })
    const other = await standIn({ users: 3, seed: 2, orgId: 'org_two', now: () => NOW })
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
    const named = ['--config', file, '--log', 'none']
    const keys = { ONE_KEY: emulator.keys.manager, TWO_KEY: other.keys.owner }
    const night = await execute(['run', '--from', '2026-02-02', ...named], keys)
    expect(night, night.err).toMatchObject({ code: 0 })
    const { out } = await execute(
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
