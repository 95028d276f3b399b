import { describe, expect, it } from 'vitest'
import { DEMO_SECRETS } from '../../src/emulator/emulator.ts'
import { linesOf, NOW, stage, type Stage } from './platform-stage.ts'

/** The first is running, the second pending, all others are idle. */
function ids({ emulator }: Stage): [running: string, pending: string, idle: string] {
  const [running = '', pending = '', idle = ''] = emulator.sessionIds()
  return [running, pending, idle]
}

describe('a session', () => {
  it('is shown, as text and as served, without secrets', async () => {
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

  it('is changed after a confirmation, and says what is otherwise than before', async () => {
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
    expect(err).toMatch(/^change model, tags of the session .* Go on\?/)
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

  it('keeps what the platform has of the tags that stay', async () => {
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

  it('is archived as of now, and takes other settings as JSON', async () => {
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

  it('is interrupted: running before, idle after; an idle one stays so', async () => {
    const platform = await stage()
    const [running, , idle] = ids(platform)
    const first = await platform.run(['sessions', 'interrupt', running], { answers: 'y' })
    expect(first.code, first.err).toBe(0)
    expect(first.err).toContain('which is running. Go on?')
    expect(first.out).toMatch(/was running and is idle$/m)
    const second = await platform.run(['sessions', 'interrupt', idle, '--yes', '--json'])
    expect(JSON.parse(second.out)).toEqual({
      session_id: idle,
      status_before: 'idle',
      status: 'idle',
    })
  })

  it('is not interrupted where that is not enabled: 5', async () => {
    const platform = await stage({ interrupt: false })
    const [running] = ids(platform)
    const { code, out, err } = await platform.run(['sessions', 'interrupt', running, '--yes'])
    expect({ code, out }).toEqual({ code: 5, out: '' })
    expect(linesOf(err)).toEqual([
      expect.stringContaining('403 Forbidden: interrupt is not enabled'),
      expect.stringContaining('selected organisations'),
    ])
  })

  it('is watched until it is idle', async () => {
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

  it('that is not idle in time is 4', async () => {
    const platform = await stage()
    const [running] = ids(platform)
    const { code } = await platform.run([
      ...['sessions', 'watch', running, '--interval', '0.01s', '--timeout', '0.05s'],
    ])
    expect(code).toBe(4)
  })
})

describe('a message', () => {
  it('is shown with its text, and the types of what is not text', async () => {
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

  it('never shows a secret', async () => {
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

describe('what cannot be done with a session is 2 and one line', () => {
  const update = (...args: string[]): string[] => ['sessions', 'update', 'some-id', ...args]
  it.each([
    ['an unknown one', ['sessions', 'show', 'nope'], /404 Not Found: .*'nope'/],
    ['to interrupt an unknown one', ['sessions', 'interrupt', 'nope', '--yes'], /404 Not Found/],
    ['to watch an unknown one', ['sessions', 'watch', 'nope'], /404 Not Found/],
    ['to change an unknown one', update('--archive', '--yes'), /404 Not Found/],
    ['an unknown message', ['messages', 'show', 'nope', 'none'], /404 Not Found/],
    [
      'a message without a session',
      ['messages', 'show', 'nope'],
      /arguments: 1 given, at least 2 needed/,
    ],
    ['nothing to change', update('--yes'), /there is nothing to change/],
    ['a tag without a name', update('--yes', '--tag'), /Not enough arguments following: tag/],
    ['settings that are no JSON', update('--settings', '{x', '--yes'), /--settings: .*not a JSON/],
    ['settings that are a list', update('--settings', '[]', '--yes'), /--settings: .*not a JSON/],
    [
      'reckoned settings',
      update('--settings', '{"tokenUsage":{}}', '--yes'),
      /'tokenUsage' cannot/,
    ],
  ])('%s', async (_, args, told) => {
    const { run, changes } = await stage()
    const { code, out, err } = await run(args)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(linesOf(err)[0]).toMatch(told)
    expect(linesOf(err).length).toBeLessThanOrEqual(2)
    expect(changes()).toEqual([])
  })

  it('settings that the platform does not take: its own words', async () => {
    const platform = await stage()
    const [running] = ids(platform)
    const { code, err } = await platform.run([
      ...['sessions', 'update', running, '--settings', '{"model":7}', '--yes'],
    ])
    expect(code).toBe(2)
    expect(linesOf(err)[0]).toMatch(/PATCH \S+: 400 Bad Request/)
  })
})
