import { describe, expect, it } from 'vitest'
import { DEMO_SECRETS } from '../../src/emulator/emulator.ts'
import { linesOf, NOW, stage, type Stage } from './platform-stage.ts'

/** The first is running, the second pending, all others are idle. */
function ids({ emulator }: Stage): [running: string, pending: string, idle: string] {
  const [running = '', pending = '', idle = ''] = emulator.sessionIds()
  return [running, pending, idle]
}

describe('sessions', () => {
  it('show prints a session as text and as JSON, without secrets', async () => {
    const platform = await stage()
    const [, , idle] = ids(platform)
    const { code, out } = await platform.run(['sessions', 'show', idle])
    expect(code).toBe(0)
    expect(out).toMatch(/^status +idle$/m)
    expect(out).toMatch(/^tags +release, café$/m)
    expect(out).toMatch(/^tokens +input \d+, output \d+, /m)
    const json = await platform.run(['sessions', 'show', idle, '--json'])
    expect(JSON.parse(json.out)).toMatchObject({ sessionId: idle, status: 'idle' })
    const all = out + json.out
    expect(DEMO_SECRETS.filter((secret) => all.includes(secret))).toEqual([])
  })

  it('update asks for a confirmation and prints what changed', async () => {
    const platform = await stage()
    const [running] = ids(platform)
    const update = [
      'sessions',
      'update',
      running,
      '--model',
      'atlas-9',
      '--tag',
      'a,b',
      '--tag',
      'x',
    ]
    const { code, out, err } = await platform.run(update, { answers: 'y' })
    expect(code, err).toBe(0)
    expect(err).toMatch(/^change model, tags of the session .* Continue\?/)
    expect(out).toMatch(/^model +\| "atlas-2-thinking" +\| "atlas-9"$/m)
    expect(out).toMatch(/^tags\["?x"?\]\.?\S* +\| NULL +\| "x"$/m)
    const again = await platform.run([...update, '--untag', 'release', '--yes', '--json'])
    const { session } = JSON.parse(again.out) as {
      session: { sessionSettings: { tags: { name: string }[]; disabledToolIds: string[] } }
    }
    expect(session.sessionSettings.tags.map(({ name }) => name).sort()).toEqual(
      ['a,b', 'café', 'x'].sort(),
    )
    expect(session.sessionSettings.disabledToolIds).toEqual(['WebSearch'])
  })

  it('update sends the kept tags unchanged, and prints no secret of them', async () => {
    const bodies: unknown[] = []
    const platform = await stage({
      intercept: async ({ method, answer }) => {
        const given = await answer()
        if (method === 'PATCH') bodies.push(await given.clone().json())
        return given
      },
    })
    const [running] = ids(platform)
    const { out } = await platform.run(['sessions', 'update', running, '--tag', 'x', '--yes'])
    expect(JSON.stringify(bodies)).toContain('tag-2Gh9Jk4Lz7Xp')
    expect(out).not.toContain('tag-2Gh9Jk4Lz7Xp')
  })

  it('update sends numbers of kept tags as they were served', async () => {
    const metadata = '{"id":9007199254740993,"share":1.0,"text":"9007199254740993"}'
    const session = `{"sessionId":"s","sessionSettings":{"tags":[{"name":"a","metadata":${metadata}}]}}`
    const { run } = await stage({ intercept: () => Promise.resolve(new Response(session)) })
    const { out } = await run(['sessions', 'update', 's', '--tag', 'b', '--dry-run', '--json'])
    expect(out).toContain(`{"tags":[{"name":"a","metadata":${metadata}},{"name":"b"}]}`)
  })

  it('update sends numbers of --settings as they were written', async () => {
    const session = '{"sessionId":"s","sessionSettings":{}}'
    const { run } = await stage({ intercept: () => Promise.resolve(new Response(session)) })
    const settings = '{"x":9007199254740993,"y":[1.0,-0.5e3,0]}'
    const update = ['sessions', 'update', 's', '--settings', settings]
    const { out, err } = await run([...update, '--dry-run', '--json'])
    expect(out, err).toContain(`{"sessionSettings":${settings}}`)
  })

  it('update shows every digit of the settings after it', async () => {
    const serving = (ms: string): Response =>
      new Response(`{"sessionId":"s","sessionSettings":{"assistantActiveTimeMs":${ms}}}`)
    const { run } = await stage({
      intercept: ({ method }) =>
        Promise.resolve(serving(method === 'PATCH' ? '9007199254740993' : '9007199254740992')),
    })
    const update = ['sessions', 'update', 's', '--model', 'm', '--yes']
    const { out } = await run(update)
    expect(out).toMatch(/^assistantActiveTimeMs +\| 9007199254740992 +\| 9007199254740993$/m)
    const json = await run([...update, '--json'])
    const after = '9007199254740993'
    expect(JSON.parse(json.out)).toMatchObject({
      session: { sessionSettings: { assistantActiveTimeMs: after } },
      changes: [{ settings_path: 'assistantActiveTimeMs', after }],
    })
  })

  it('update keeps what is no tag in the list of tags, and null is no title', async () => {
    const session = '{"sessionId":"s","title":null,"sessionSettings":{"tags":[null,{"name":"a"}]}}'
    const { run } = await stage({ intercept: () => Promise.resolve(new Response(session)) })
    const update = ['sessions', 'update', 's', '--untag', 'a', '--tag', 'b']
    const dry = await run([...update, '--dry-run', '--json'])
    expect(dry.out).toContain('{"tags":[null,{"name":"b"}]}')
    const done = await run([...update, '--yes'])
    expect(done.out).toBe('The session s is unchanged\n')
  })

  it('update archives a session, and accepts other settings as JSON', async () => {
    const platform = await stage()
    const [running] = ids(platform)
    const settings = '{"disabledToolIds":["A","B"]}'
    const args = ['sessions', 'update', running, '--archive', '--settings', settings]
    const { out } = await platform.run([...args, '--yes', '--json'])
    expect(JSON.parse(out)).toMatchObject({
      session: {
        sessionSettings: {
          archivedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string,
          disabledToolIds: ['A', 'B'],
        },
      },
    })
  })

  it('interrupt makes a running session idle, and leaves an idle one idle', async () => {
    const platform = await stage()
    const [running, , idle] = ids(platform)
    const first = await platform.run(['sessions', 'interrupt', running], { answers: 'y' })
    expect(first.code, first.err).toBe(0)
    expect(first.err).toContain('which is running. Continue?')
    expect(first.out).toMatch(/was running and is idle$/m)
    const second = await platform.run(['sessions', 'interrupt', idle, '--yes', '--json'])
    expect(JSON.parse(second.out)).toEqual({
      session_id: idle,
      status_before: 'idle',
      status: 'idle',
    })
  })

  it('interrupt exits with code 5 where the platform has not enabled it', async () => {
    const platform = await stage({ interrupt: false })
    const [running] = ids(platform)
    const { code, out, err } = await platform.run(['sessions', 'interrupt', running, '--yes'])
    expect({ code, out }).toEqual({ code: 5, out: '' })
    expect(linesOf(err)).toEqual([
      expect.stringContaining('403 Forbidden: interrupt is not enabled'),
      expect.stringContaining('selected organisations'),
    ])
  })

  it('watch ends when the session is idle', async () => {
    let now = NOW
    const platform = await stage({ now: () => (now += 30_000) })
    const [running] = ids(platform)
    const { code, out, err } = await platform.run([
      ...['sessions', 'watch', running, '--interval', '0.01s', '--json'],
    ])
    expect(code, err).toBe(0)
    expect(linesOf(err)[0]).toMatch(/is running, \d+ messages$/)
    expect(JSON.parse(out)).toMatchObject({ sessionId: running, status: 'idle' })
  })

  it('watch exits with code 4 when --timeout passes first', async () => {
    const platform = await stage()
    const [running] = ids(platform)
    const { code } = await platform.run([
      ...['sessions', 'watch', running, '--interval', '0.01s', '--timeout', '0.05s'],
    ])
    expect(code).toBe(4)
  })
})

describe('messages show', () => {
  it('prints the text, and the types of other blocks', async () => {
    const platform = await stage()
    const [, , idle] = ids(platform)
    const [first = ''] = platform.emulator.messageIds(idle)
    const { code, out } = await platform.run(['messages', 'show', idle, first])
    expect(code).toBe(0)
    expect(out).toMatch(/^role +user$/m)
    expect(out).toContain('Zeile 0: “größer” — 🦀')
    expect(out).toMatch(/^\[marker\]$/m)
    const json = await platform.run(['messages', 'show', idle, first, '--json'])
    expect(JSON.parse(json.out)).toMatchObject({ id: first, role: 'user' })
  })

  it('shows the same time as the warehouse, whatever the unit of the platform', async () => {
    const message = { id: 'm', role: 'user', content: [], createdAt: NOW / 1000, updatedAt: NOW }
    const { run } = await stage({ intercept: () => Promise.resolve(Response.json(message)) })
    const { out } = await run(['messages', 'show', 's', 'm'])
    const now = new Date(NOW).toISOString().slice(0, 19)
    expect(linesOf(out).slice(-2)).toEqual([
      expect.stringMatching(`^created at +${now}Z$`),
      expect.stringMatching(`^updated at +${now}Z$`),
    ])
  })

  it('prints no secret', async () => {
    const platform = await stage()
    const [, , idle] = ids(platform)
    let all = ''
    for (const id of platform.emulator.messageIds(idle)) {
      const show = ['messages', 'show', idle, id]
      all += (await platform.run(show)).out + (await platform.run([...show, '--json'])).out
    }
    expect(all).toContain('The key is [redacted:')
    expect(DEMO_SECRETS.filter((secret) => all.includes(secret))).toEqual([])
  })
})

describe('a sessions or messages command that cannot succeed', () => {
  const update = (...args: string[]): string[] => ['sessions', 'update', 'some-id', ...args]
  it.each([
    ['an unknown session', ['sessions', 'show', 'nope'], /404 Not Found: .*'nope'/],
    [
      'interrupting an unknown session',
      ['sessions', 'interrupt', 'nope', '--yes'],
      /404 Not Found/,
    ],
    ['watching an unknown session', ['sessions', 'watch', 'nope'], /404 Not Found/],
    ['updating an unknown session', update('--archive', '--yes'), /404 Not Found/],
    ['an unknown message', ['messages', 'show', 'nope', 'none'], /404 Not Found/],
    [
      'a message without a session',
      ['messages', 'show', 'nope'],
      /arguments: 1 given, at least 2 needed/,
    ],
    ['an update without a change', update('--yes'), /there is nothing to change/],
    ['a tag without a name', update('--yes', '--tag'), /Not enough arguments following: tag/],
    ['invalid JSON as settings', update('--settings', '{x', '--yes'), /--settings: .*not a JSON/],
    ['a list as settings', update('--settings', '[]', '--yes'), /--settings: .*not a JSON/],
    [
      'a number with a leading zero as settings',
      update('--settings', '{"x":01}', '--yes'),
      /--settings: .*not a JSON/,
    ],
    [
      'tags in --settings and an option that adds one',
      update('--settings', '{"tags":[{"name":"a"}]}', '--tag', 'b', '--yes'),
      /--settings has 'tags', which --tag sets, too/,
    ],
    [
      'two models',
      update('--settings', '{"model":"a"}', '--model', 'b', '--yes'),
      /--settings has 'model', which --model sets, too/,
    ],
    [
      'two times of archiving',
      update('--settings', '{"archivedAt":null}', '--archive', '--yes'),
      /--settings has 'archivedAt', which --archive sets, too/,
    ],
    [
      'a read-only setting',
      update('--settings', '{"tokenUsage":{}}', '--yes'),
      /'tokenUsage' cannot/,
    ],
  ])('%s exits with code 2 and an error message', async (_, args, message) => {
    const { run, changes } = await stage()
    const { code, out, err } = await run(args)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(linesOf(err)[0]).toMatch(message)
    expect(linesOf(err).length).toBeLessThanOrEqual(2)
    expect(changes()).toEqual([])
  })

  it('a setting that the platform refuses exits with code 2 and the message of the platform', async () => {
    const platform = await stage()
    const [running] = ids(platform)
    const { code, err } = await platform.run([
      ...['sessions', 'update', running, '--settings', '{"model":7}', '--yes'],
    ])
    expect(code).toBe(2)
    expect(linesOf(err)[0]).toMatch(/PATCH \S+: 400 Bad Request/)
  })
})
