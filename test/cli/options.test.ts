import { writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import yargs from 'yargs'
import { momentOf, organisationsOf, selectionOf, selectionOptions } from '../../src/cli/options.ts'
import { ITEMS } from '../../src/lake/resources.ts'
import { linesOf, stage } from './platform-stage.ts'
import { helpOf, registered } from './registry.ts'

describe('a time in an option', () => {
  it.each([
    ['2026-03-01', '2026-03-01T23:59:59.999Z'],
    ['2024-02-29', '2024-02-29T23:59:59.999Z'],
    ['2026-03-01T06:00:00Z', '2026-03-01T06:00:00.000Z'],
    ['2026-03-01T06:00:00.5Z', '2026-03-01T06:00:00.500Z'],
    ['2026-03-01T06:00Z', '2026-03-01T06:00:00.000Z'],
    ['2026-03-01T01:00:00+02:00', '2026-02-28T23:00:00.000Z'],
  ])('%s is read as %s', (text, expected) => {
    expect(new Date(momentOf(text, '--as-of')).toISOString()).toBe(expected)
  })

  it.each([
    ...['', 'soon', 'yesterday', '2026', '2026-03', '2026-02-30', '2026-3-1', '20260301'],
    ...['2026-03-01 06:00:00Z', '2026-03-01T06:00:00', '2026-03-01T25:00:00Z'],
    ...['2026-02-30T06:00:00Z', '2026-03-01T06:00:00+99:00', '1772323200', 'Mar 1, 2026'],
  ])("'%s' is not a time", (text) => {
    expect(() => momentOf(text, '--as-of')).toThrow(`--as-of: '${text}' is not a time`)
  })
})

describe('the selection of resources', () => {
  const parse = (...argv: string[]) =>
    selectionOf(
      yargs(argv)
        .exitProcess(false)
        .parserConfiguration({ 'duplicate-arguments-array': true })
        .options(selectionOptions)
        .parseSync(),
    )({
      hosts: () => [
        { name: 'acme', appUrl: null },
        { name: 'beta', appUrl: null },
        { name: 'one, two', appUrl: 'https://app.example.com' },
      ],
    })

  it('is every resource by default', () => {
    expect(parse()).toEqual({
      within: {},
      refetch: false,
      entities: { sessions: [], messages: [] },
    })
  })

  it('takes analytics and entity resources from --only', () => {
    const { resources, entities } = parse('--only', 'tokens, sessions ,hook_events')
    expect(resources?.map(({ name }) => name)).toEqual(['tokens'])
    expect(entities?.resources).toEqual(['sessions', 'hook_events'])
  })

  it('takes every --only that is given', () => {
    const { resources } = parse('--only', 'tokens', '--only', 'users')
    expect(resources?.map(({ name }) => name)).toEqual(['tokens', 'users'])
  })

  it('takes ids from --session and --message, which can be repeated', () => {
    const { entities } = parse(
      '--session',
      'a',
      '--session=b',
      '--message',
      'a/m',
      '--only',
      'sessions,messages',
    )
    expect(entities).toEqual({
      resources: ['sessions', 'messages'],
      sessions: ['a', 'b'],
      messages: [{ sessionId: 'a', messageId: 'm' }],
    })
  })

  it('takes readiness reports if one of the organisations has a web application host', () => {
    const { entities } = parse('--only', 'readiness_reports')
    expect(entities?.resources).toEqual(['readiness_reports'])
  })

  it.each([
    [
      ['--only', 'tokens,readiness_reports', '--org', 'acme,beta'],
      '--only: no web application host is set, so there are no readiness_reports',
    ],
    [['--only', 'nothing'], "--only: there is no resource 'nothing'"],
    [['--only', ' , '], '--only: no resource is named'],
    [['--session', ' '], "--session: ' ' is not an id"],
    [['--session', '..'], "--session: '..' is not an id"],
    [['--message', 'a'], "--message: 'a' is not <session id>/<message id>"],
    [['--message', 'a/b/c'], "--message: 'a/b/c' is not <session id>/<message id>"],
    [
      ['--session', 'a', '--only', 'users'],
      "--session needs the resource 'sessions', which --only leaves out",
    ],
  ])('%j is refused', (argv, message) => {
    expect(() => parse(...argv)).toThrow(message)
  })

  it('names the resource that is meant, or all', () => {
    const hint = (name: string): unknown => expect.objectContaining({ hint: name })
    expect(() => parse('--only', 'token,users')).toThrow(hint("Did you mean 'tokens'?"))
    expect(() => parse('--only', ' , ')).toThrow(
      hint(`Known: ${Object.keys(ITEMS).sort().join(', ')}.`),
    )
  })
})

describe('an empty value, as from an unset shell variable', () => {
  it.each<[string[], string]>([
    [['status', '--data', ''], 'the value of --data is empty'],
    [['status', '--data='], 'the value of --data is empty'],
    [['status', '--data=  '], 'the value of --data is empty'],
    [['status', '--config', '\t'], 'the value of --config is empty'],
    [['run', '--base-url', ''], 'the value of --base-url is empty'],
    [['sync', '--only', ''], 'the value of --only is empty'],
    [['sync', '--from', ''], 'the value of --from is empty'],
    [['plan', '--session', 'a', '--session', ''], 'the value of --session is empty'],
    [['sync', '--rate', ''], 'the value of --rate is empty'],
    [['emulate', '--port', ''], 'the value of --port is empty'],
    [['demo', '--users='], 'the value of --users is empty'],
    [['build', '--select', ' '], 'the value of --select is empty'],
    [['report', '--out', ''], 'the value of --out is empty'],
    [['docs', '--out', ''], 'the value of --out is empty'],
    [['sessions', 'show', ''], 'argument 3 is empty'],
    [['sessions', 'show', '--', ''], 'argument 4 is empty'],
    [['readiness', 'show', ''], 'argument 3 is empty'],
    [['query', ''], 'argument 2 is empty'],
    [['export', ''], 'argument 2 is empty'],
    [['rollback', '--to', ''], 'the value of --to is empty'],
    [['computers', 'delete', '', '--yes'], 'argument 3 is empty'],
    [['computers', 'list', '--organisation', ''], 'the value of --organisation is empty'],
    [['sessions', 'interrupt', '', '--yes'], 'argument 3 is empty'],
    [['sessions', 'update', 'a', '--untag', '', '--yes'], 'the value of --untag is empty'],
    [['messages', 'show', 'a', ''], 'argument 4 is empty'],
    [['limits', 'remove', 'ada@acme.example', '', '--yes'], 'argument 4 is empty'],
    [['limits', 'set', '--csv', '', '--yes'], 'the value of --csv is empty'],
    [['hooks', 'install', '--events', ''], 'the value of --events is empty'],
    [['hooks', 'test', ''], 'argument 3 is empty'],
    [[''], 'argument 1 is empty'],
  ])('%j exits with code 2 and says which value is empty', async (args, message) => {
    const { run, emulator } = await stage()
    const { code, out, err } = await run(args)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(linesOf(err)[0]).toBe(`agent-warehouse: ${message}`)
    expect(linesOf(err)).toHaveLength(2)
    expect(emulator.requests).toEqual([])
  })
})

describe('a flag', () => {
  it.each<[string[], string, string]>([
    [['computers', 'delete', 'a', '--yes', '--dry-run=yes'], '--dry-run', 'yes'],
    [['computers', 'delete', 'a', '--yes', '--dryRun=1'], '--dryRun', '1'],
    [['compact', '--dry-run=TRUE'], '--dry-run', 'TRUE'],
    [['sync', '--refetch=on'], '--refetch', 'on'],
    [['status', '--debug=yes'], '--debug', 'yes'],
  ])('with another value than true and false is refused: %j', async (args, flag, value) => {
    const { run, emulator } = await stage()
    const { code, out, err } = await run(args)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(linesOf(err)).toEqual([
      `agent-warehouse: ${flag}: '${value}' is neither true nor false`,
      `  Write ${flag} alone, or leave it out.`,
    ])
    expect(emulator.requests).toEqual([])
  })
})

describe('an argument after --', () => {
  it.each<[string[], string]>([
    [['sync', '--', '--from', '2026-02-02'], '--from'],
    [['computers', 'delete', 'a', '--yes', '--', '--dry-run'], '--dry-run'],
    [['query', 'select 1', '--', 'a'], 'a'],
  ])('is refused, because no command reads it: %j', async (args, unread) => {
    const { run, emulator } = await stage()
    const { code, out, err } = await run(args)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(linesOf(err)).toEqual([
      `agent-warehouse: Unknown argument: ${unread}`,
      '  What follows -- is not read. See --help.',
    ])
    expect(emulator.requests).toEqual([])
  })
})

describe('an option that takes a number', () => {
  it.each([
    ['emulate', '--port'],
    ['emulate', '--users'],
    ['demo', '--users'],
    ['verify', '--days'],
    ['sync', '--rate'],
    ['run', '--concurrency'],
  ])('%s %s exits with code 2 for a value that is not a number', async (name, option) => {
    const { run } = await stage()
    const { code, out, err } = await run([name, option, 'x1'])
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(linesOf(err)).toEqual([`agent-warehouse: ${option}: that is not a number`])
  })

  it.each(['port', 'app-port', 'seed', 'users'])('emulate --%s needs a value', async (name) => {
    const { run } = await stage()
    const { code, err } = await run(['emulate', '--burst', 'x1', `--${name}`])
    expect(code).toBe(2)
    expect(linesOf(err)[0]).toBe(`agent-warehouse: Not enough arguments following: ${name}`)
  })
})

describe('an option of the stand-in platform', () => {
  it.each([
    ['emulate --port 70000', '--port: 70000 is not a whole number from 0 to 65535'],
    ['emulate --seed -1', '--seed: -1 is not a whole number'],
    ['emulate --rate 0', '--rate: 0 is not a number above 0'],
    ['emulate --rate 1 --burst 0', '--burst: 0 is not a whole number'],
    ['emulate --app-port -1', '--app-port: -1 is not a whole number'],
    ['emulate --users 0', '--users: 0 is not a whole number'],
    ['emulate --users 1.5', '--users: 1.5 is not a whole number'],
    ['emulate --from soon', "--from: 'soon' is not a date"],
    ['demo --users -2', '--users: -2 is not a whole number'],
  ])('%s exits with code 2 and says what is allowed', async (line, message) => {
    const { code, out, err } = await (await stage()).run(line.split(' '))
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(linesOf(err)[0]).toContain(message)
    expect(linesOf(err).length).toBeLessThanOrEqual(2)
  })
})

describe('a repeated option', () => {
  const range = ['--from', '2026-02-01', '--from', '2026-02-02']
  const plan = ['plan', '--json', ...range, '--only', 'sessions', '--only', 'messages']
  it.each<[string[], number[]]>([
    [
      ['--session', 'a'],
      [1, 0],
    ],
    [
      ['--session', 'a', '--session', 'b'],
      [2, 0],
    ],
    [
      ['--session', 'a', '--message', 'a/m', '--message', 'b/m'],
      [1, 2],
    ],
  ])(
    'counts each value of %j and of --only, but only the last value of --from',
    async (args, requests) => {
      const { run } = await stage()
      const { code, out, err } = await run([...plan, ...args])
      expect(code, err).toBe(0)
      const [first] = JSON.parse(out) as { tasks: []; entities: { requests: number }[] }[]
      expect(first?.tasks).toEqual([])
      expect(first?.entities.map((each) => each.requests)).toEqual(requests)
    },
  )
})

describe('an unknown option', () => {
  it.each([
    ['sync --form 2026-01-14', 'Did you mean --from? See --help.'],
    ['sync --onyl users', 'Did you mean --only? See --help.'],
    ['computers list --organization a', 'Did you mean --organisation? See --help.'],
    ['limits set a@b.example 1 --dryrun', 'Did you mean --dry-run? See --help.'],
    ['status --quite-unlike-any', 'See --help.'],
    ['status --no-data', 'See --help.'],
    ['status --data.folder a', 'See --help.'],
    ['plan --no-only', 'See --help.'],
    ['plan --only.users a', 'See --help.'],
  ])(
    '%s exits with code 2, points to --help and suggests a similar option if there is one',
    async (line, hint) => {
      const { code, out, err } = await (await stage()).run(line.split(' '))
      expect({ code, out }).toEqual({ code: 2, out: '' })
      expect(linesOf(err)).toEqual([expect.stringMatching(/Unknown argument/), `  ${hint}`])
    },
  )
})

it('a value that is not one of the choices is refused with its option and the choices', async () => {
  const { code, err } = await (await stage()).run(['report', '--format', 'pdf'])
  expect(code).toBe(2)
  expect(linesOf(err)[0]).toBe('agent-warehouse: format: "pdf" is not one of "html", "md"')
})

describe('a data folder that is a file, or inside one', () => {
  const COMMANDS = ['status', 'plan', 'query 1', 'tables', 'export csv', 'rollback', 'build', 'run']
  it.each(COMMANDS)('%s exits with code 2 and names the path', async (line) => {
    const { run, data } = await stage()
    await writeFile(data, '')
    for (const path of [data, `${data}/data`]) {
      const { code, out, err } = await run([...line.split(' '), '--data', path])
      expect({ code, out }).toEqual({ code: 2, out: '' })
      expect(linesOf(err)[0]).toContain(`${path} is a file, or is inside a file`)
      expect(linesOf(err)).toHaveLength(2)
    }
  })
})

describe('examples of --help', () => {
  it('stand on a line of their own, below a comment that explains them', async () => {
    const commands = await registered()
    expect(commands.length).toBeGreaterThan(40)
    for (const { name } of commands) {
      const help = await helpOf(name.split(' '))
      const lines = linesOf(/^Examples:\n(.*)/ms.exec(help)?.[1] ?? '')
      expect(lines.length, name).toBeGreaterThan(0)
      for (const [at, line] of lines.entries()) {
        const form =
          at % 2 === 0 ? /^ {2}# \S/ : new RegExp(`^ {2}(?:echo .*)?agent-warehouse ${name}\\b`)
        expect(line).toMatch(form)
      }
    }
  })
})

describe('--org', () => {
  const known = ['acme', 'beta', 'one, two']

  it.each([
    [undefined, undefined],
    [['acme'], ['acme']],
    [
      ['beta', 'acme'],
      ['beta', 'acme'],
    ],
    [
      ['acme, beta', 'acme'],
      ['acme', 'beta'],
    ],
    [['one, two'], ['one, two']],
  ])('%j selects %j', (org, names) => {
    expect(organisationsOf({ org, _: [], $0: '' }, known)).toEqual(names)
  })

  it.each([['acmee'], ['acme,'], ['']])("'%s' is refused", (name) => {
    expect(() => organisationsOf({ org: [name], _: [], $0: '' }, known)).toThrow(
      'there is no organisation',
    )
  })
})
