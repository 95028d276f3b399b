import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { openRedaction } from '../../src/lib/secrets/redaction.ts'
import { command } from '../support/command.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { linesOf, NOW, stage, type Stage } from './platform-stage.ts'
import { standIn } from '../support/stand-in.ts'

/** One command of each kind that changes something; `@` is a session that runs. */
const CHANGING: readonly [string, string[], string[]][] = [
  ['limits set', ['limits', 'set', 'ada@acme.example', '9'], ['PUT']],
  ['limits set-global', ['limits', 'set-global', '7000000'], ['PUT']],
  ['limits remove', ['limits', 'remove', 'ada@acme.example', '--force'], ['PUT']],
  ['computers install-deps', ['computers', 'install-deps', 'build-farm'], ['POST']],
  ['computers refresh', ['computers', 'refresh', 'build-farm'], ['POST']],
  ['computers restart', ['computers', 'restart', 'build-farm'], ['POST']],
  ['computers delete', ['computers', 'delete', 'build-farm'], ['DELETE']],
  ['sessions update', ['sessions', 'update', '@', '--model', 'm', '--tag', 't'], ['PATCH']],
  ['sessions interrupt', ['sessions', 'interrupt', '@'], ['POST']],
]

const READING = [
  ...['controls list', 'controls show', 'controls diff', 'limits list', 'readiness list'],
  ...['readiness show', 'computers list', 'computers show', 'computers metrics', 'computers wait'],
  ...['sessions show', 'sessions watch', 'messages show'],
]

function withSession(args: readonly string[], { emulator }: Stage): string[] {
  return args.map((each) => (each === '@' ? (emulator.sessionIds()[0] ?? '') : each))
}

it('a command on a platform that cannot be reached says what to check', async () => {
  const { run } = await stage()
  const environment = { AGENT_BASE_URL: 'http://127.0.0.1:1' }
  const { code, err } = await run(['sessions', 'show', 'x'], { environment })
  expect(code).toBe(1)
  expect(linesOf(err).slice(-2)).toEqual([
    expect.stringMatching(/^agent-warehouse: GET http:\S+: connect ECONNREFUSED/),
    expect.stringMatching(
      /^ {2}Check the address and where it is configured, the network and the proxy, then try again\.$/,
    ),
  ])
})

describe('a command that changes something', () => {
  it.each(CHANGING)(
    '%s without a terminal or --yes exits with code 2 and sends no request',
    async (_, args) => {
      const platform = await stage()
      const { code, out, err } = await platform.run(withSession(args, platform))
      expect({ code, out }).toEqual({ code: 2, out: '' })
      expect(linesOf(err)).toEqual([
        expect.stringContaining('no terminal to ask for confirmation'),
        expect.stringContaining('--yes'),
      ])
      expect(platform.emulator.requests).toEqual([])
    },
  )

  it.each(CHANGING)('%s changes nothing when the answer is no', async (_, args) => {
    const platform = await stage()
    const { code, out } = await platform.run(withSession(args, platform), { answers: 'no' })
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(platform.changes()).toEqual([])
  })

  it.each(CHANGING)(
    '%s --dry-run prints the requests that it sends without --dry-run',
    async (_, given, methods) => {
      const sent: unknown[] = []
      const platform = await stage({
        intercept: ({ method, path, answer }) => {
          if (method !== 'GET') sent.push({ method, path })
          return answer()
        },
      })
      const args = withSession(given, platform)
      const dry = await platform.run([...args, '--dry-run', '--json'])
      expect(dry.code, dry.err).toBe(0)
      expect(sent).toEqual([])
      const { requests } = JSON.parse(dry.out) as { requests: { method: string; url: string }[] }
      expect(requests.map(({ method }) => method)).toEqual(methods)
      const text = await platform.run([...args, '--dry-run'])
      for (const { method, url } of requests)
        expect(text.out).toContain(`would send: ${method} ${url}`)
      await platform.run([...args, '--yes'])
      expect(sent).toEqual(
        requests.map(({ method, url }) => ({ method, path: new URL(url).pathname })),
      )
    },
  )

  it('prints request bodies with --dry-run, without secrets', async () => {
    const platform = await stage()
    const [session = ''] = platform.emulator.sessionIds()
    const { out } = await platform.run(['sessions', 'update', session, '--tag', 'x', '--dry-run'])
    expect(out).toMatch(/"apiToken":"\[redacted:\w{8}\]"/)
    expect(out).toContain('{"name":"x"}')
  })
})

describe('help', () => {
  const all = [...READING, ...CHANGING.map(([name]) => name)]
  it.each(all)('%s --help shows an example', async (name) => {
    const { code, out } = await (await stage()).run([...name.split(' '), '--help'])
    expect(code).toBe(0)
    expect(out).toContain('Examples:')
    expect(out).toContain(`agent-warehouse ${name}`)
    expect(out).toContain('--json')
    expect(out.includes('--dry-run')).toBe(!READING.includes(name))
  })
})

describe('the installed command', () => {
  it('reads, changes and fails with the exit code of each outcome', async () => {
    const { environment, emulator } = await stage()
    const shown = await command(['limits', 'list', '--json'], environment)
    expect(shown).toMatchObject({ code: 0, err: '' })
    expect(JSON.parse(shown.out)).toMatchObject({ globalLimit: 5_000_000 })
    const alone = await command(['limits', 'set-global', '6000000'], environment)
    expect(alone.code).toBe(2)
    const changed = await command(['limits', 'set-global', '6000000', '--yes'], environment)
    expect(changed).toMatchObject({ code: 0 })
    const unknown = await command(['computers', 'show', 'nix'], environment)
    expect(unknown).toMatchObject({ code: 2, out: '' })
    const failed = await command(['limits', 'set', 'a@b.example', '9', '--yes'], environment)
    expect(failed).toMatchObject({ code: 3 })
    expect(emulator.requests.filter(({ method }) => method === 'PUT')).toHaveLength(2)
  })
})

describe('a platform command', () => {
  const problem = (status: number, headers = {}): Response =>
    new Response('{"title":"A title","detail":"and a detail"}', { status, headers })

  it.each([
    ['a bad request', 400, ['limits', 'list'], 2, /GET \S+: 400 A title: and a detail/],
    ['a refused credential', 401, ['limits', 'list'], 5, /401 A title: and a detail/],
    ['a refused role', 403, ['computers', 'list'], 5, /403 A title: and a detail/],
    ['an unknown id', 404, ['sessions', 'show', 'x'], 2, /404 A title: and a detail/],
    ['a conflict', 409, ['computers', 'list'], 2, /409 A title/],
    ['an unprocessable request', 422, ['limits', 'set-global', 'none', '--yes'], 2, /422 A title/],
    ['another client error', 418, ['limits', 'list'], 1, /418 A title/],
    ['a server error', 501, ['limits', 'list'], 1, /501 A title/],
  ])(
    'quotes %s (%i) in one line and exits with its code',
    async (_, status, args, expected, message) => {
      const { run } = await stage({ intercept: () => problem(status) })
      const { code, out, err } = await run(args)
      expect({ code, out }).toEqual({ code: expected, out: '' })
      expect(linesOf(err)[0]).toMatch(message)
      expect(linesOf(err).length).toBeLessThanOrEqual(2)
    },
  )

  it('exits with code 4 at a Retry-After of a day', async () => {
    const { run } = await stage({ intercept: () => problem(429, { 'retry-after': '86400' }) })
    const { code, out, err } = await run(['limits', 'list'])
    expect({ code, out }).toEqual({ code: 4, out: '' })
    expect(linesOf(err).at(-1)).toBe('  Try again later.')
  })

  it('exits with code 1 when a change fails with a 503, and says that it may have been done', async () => {
    const { run, changes } = await stage({
      intercept: ({ method }) => (method === 'GET' ? undefined : problem(503)),
    })
    const { code, out, err } = await run(['computers', 'delete', 'build-farm', '--yes'])
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(linesOf(err)[0]).toMatch(/DELETE \S+: 503 A title/)
    expect(linesOf(err).at(-1)).toContain('not known whether the platform made the change')
    expect(changes()).toHaveLength(1)
  })

  it('prints no escape sequences or control characters of the platform', async () => {
    const evil = '\u001b]0;owned\u0007\u001b[31mred\u009b2J\u202e\r\nline'
    const { run } = await stage({
      intercept: ({ path, method }) => {
        if (method === 'GET' && path.endsWith('/computers')) {
          const computer = { id: evil, name: evil, providerType: evil, createdAt: 1, status: evil }
          return Response.json({ computers: [computer] })
        }
        if (path.includes('/messages/')) {
          const content = [{ type: 'text', text: evil }, { type: evil }]
          return Response.json({ id: evil, role: evil, content, createdAt: 1, updatedAt: 1 })
        }
        return Response.json({ title: evil, detail: evil }, { status: 409 })
      },
    })
    const results = [
      await run(['computers', 'list']),
      await run(['computers', 'list', '--json']),
      await run(['messages', 'show', 's', 'm']),
      await run(['messages', 'show', 's', 'm', '--json']),
      await run(['computers', 'show', 'x']),
    ]
    for (const { out, err } of results) {
      expect(out + err).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
    }
    expect(JSON.parse(results[1]?.out ?? '')).toMatchObject([{ id: evil }])
    expect(linesOf(results[4]?.err ?? '')).toHaveLength(1)
  })

  it('prints no credential that the platform repeats', async () => {
    const platform = await stage({
      intercept: ({ headers }) =>
        Response.json(
          { detail: `unknown key ${headers.get('authorization') ?? ''}?` },
          { status: 409 },
        ),
    })
    const { err } = await platform.run(['computers', 'list'])
    expect(err).not.toContain(platform.emulator.keys.manager)
  })
})

describe('one of several organisations', () => {
  async function two() {
    const one = await stage()
    const other = await standIn({ users: 5, seed: 2, orgId: 'org_two', now: () => NOW })
    const folder = await temporaryFolder()
    const config = `${folder}/agent-warehouse.yaml`
    await writeFile(
      config,
      `organisations:
  - { name: one, base_url: '${one.emulator.url}', app_url: '${one.emulator.appUrl}', key_env: ONE_KEY }
  - { name: two, base_url: '${other.url}', key_env: TWO_KEY }
`,
    )
    // The environment of one organisation would contradict a file of two.
    const nothing = { AGENT_BASE_URL: '', AGENT_APP_URL: '', AGENT_API_KEY: '' }
    return { one, other, config, nothing }
  }

  it('is selected with --organisation, and needs only its own key', async () => {
    const { one, other, config, nothing } = await two()
    const environment = { ...nothing, TWO_KEY: other.keys.owner }
    const args = ['computers', 'list', '--json', '--config', config]
    const { code, err } = await one.run([...args, '--organisation', 'two'], { environment })
    expect(code, err).toBe(0)
    expect(other.requests).toHaveLength(1)
    expect(one.emulator.requests).toEqual([])
  })

  it.each([
    ['not named', [], /2 organisations are configured: one, two/, /--organisation one/],
    ['unknown', ['--organisation', 'six'], /no organisation 'six'/, /one, two/],
    ['without a key', ['--organisation', 'two'], /TWO_KEY is not set/, /export TWO_KEY/],
  ])('that is %s is refused with exit code 2', async (_, args, message, hint) => {
    const { one, config, nothing: environment } = await two()
    const list = ['computers', 'list', '--config', config, ...args]
    const { code, err } = await one.run(list, { environment })
    expect(code).toBe(2)
    expect(linesOf(err)).toEqual([expect.stringMatching(message), expect.stringMatching(hint)])
  })

  it('that is not named among many is refused with the first names, and a hint to copy', async () => {
    const { one, config, nothing: environment } = await two()
    const names = Array.from({ length: 9 }, (_, at) => `the ${at}`)
    const lines = names.map((name) => `  - { name: ${name}, base_url: 'https://a', key_env: KEY }`)
    await writeFile(config, ['organisations:', ...lines].join('\n'))
    const { err } = await one.run(['computers', 'list', '--config', config], { environment })
    expect(linesOf(err)).toEqual([
      'agent-warehouse: 9 organisations are configured: the 0, the 1, the 2, the 3, the 4 and 4 more',
      "  Name one: --organisation 'the 0'",
    ])
  })
})

describe('the data folder of a platform command', () => {
  it('is not created, and the redaction key of an existing one makes the markers', async () => {
    const { run, data } = await stage()
    const show = ['controls', 'show', 'latest', '--json']
    const marks = ({ out }: { out: string }): string[] => out.match(/\[redacted:\w+\]/g) ?? []
    const first = marks(await run(show))
    const second = marks(await run(show))
    expect(first.length).toBeGreaterThan(0)
    expect(second).not.toEqual(first)
    await expect(readdir(data)).rejects.toThrow('ENOENT')
    await mkdir(data)
    await openRedaction(data)
    expect(marks(await run(show))).toEqual(marks(await run(show)))
    expect(await readdir(data)).toEqual(['state'])
  })
})
