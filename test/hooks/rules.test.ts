import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  hooksSchema,
  type HooksConfig,
  render,
  unknownField,
  type TemplateValues,
} from '../../src/hooks/config.ts'
import { readEvent, type HookEvent } from '../../src/hooks/event.ts'
import { notificationOf, channelsFor, isWithin } from '../../src/hooks/queue.ts'

const CHANNELS = { desk: { type: 'desktop' }, bell: { type: 'sound' } }

function config(written: object): HooksConfig {
  return hooksSchema.parse({ channels: CHANNELS, ...written })
}

function event(input: object, at = '2026-03-10T12:00:00.000Z'): HookEvent {
  const id = '00000000-0000-4000-8000-000000000000'
  const json = JSON.stringify(input)
  const read = readEvent(`{"event_id":"${id}","recorded_at":"${at}","input":${json}}\n`)
  if (read === undefined) throw new Error('the file holds no event')
  return read
}

describe('an event', () => {
  it.each([
    ['error', true],
    ['other', true],
    ['clear', false],
    ['Error', false],
    ['', false],
  ])('SessionEnd with reason %j counts as failure: %s', (reason, isFailure) => {
    expect(event({ hook_event_name: 'SessionEnd', reason }).isFailure).toBe(isFailure)
    expect(event({ hook_event_name: 'Stop', reason }).isFailure).toBe(false)
  })

  it('is read whatever its fields are, and ignored when its name is unknown', () => {
    expect(event({ hook_event_name: 'Stop', message: 7, cwd: null })).toMatchObject({
      message: '',
      cwd: '',
    })
    for (const input of [
      '{"hook_event_name":"ToolBegins"}',
      '{"unreadable":"x"}',
      '{}',
      '[]',
      'broken',
    ]) {
      const id = '00000000-0000-4000-8000-000000000000'
      const file = `{"event_id":"${id}","recorded_at":"2026-03-10T12:00:00.000Z","input":${input}}\n`
      expect(readEvent(file), input).toBeUndefined()
    }
    expect(readEvent('')).toBeUndefined()
  })
})

describe('the rules', () => {
  const rules = [
    { events: ['Stop', 'SessionEnd'], channels: ['desk'] },
    { events: ['SessionEnd'], when: 'failure', channels: ['bell', 'desk'] },
  ]

  it.each([
    ['Notification', '', []],
    ['Stop', 'error', ['desk']],
    ['SessionEnd', 'clear', ['desk']],
    ['SessionEnd', 'error', ['desk', 'bell']],
  ])('for %s with reason %j name each channel once: %j', (hook_event_name, reason, expected) => {
    expect(channelsFor(config({ rules }), event({ hook_event_name, reason }))).toEqual(expected)
  })
})

describe('quiet hours', () => {
  it.each([
    ['22:00', '07:00', 'UTC', '21:59', false],
    ['22:00', '07:00', 'UTC', '22:00', true],
    ['22:00', '07:00', 'UTC', '00:00', true],
    ['22:00', '07:00', 'UTC', '06:59', true],
    ['22:00', '07:00', 'UTC', '07:00', false],
    ['09:00', '17:00', 'UTC', '08:59', false],
    ['09:00', '17:00', 'UTC', '12:00', true],
    ['22:00', '07:00', 'Asia/Kolkata', '16:29', false],
    ['22:00', '07:00', 'Asia/Kolkata', '16:30', true],
    ['22:00', '07:00', 'America/Los_Angeles', '06:00', true],
  ])('from %s to %s in %s: at %s UTC quiet is %s', (from, to, timezone, time, expected) => {
    expect(isWithin({ from, to, timezone }, Date.parse(`2026-03-06T${time}:00Z`))).toBe(expected)
  })

  it('follow local time when clocks go forward', () => {
    const hours = { from: '22:00', to: '07:00', timezone: 'Europe/Paris' }
    expect(isWithin(hours, Date.parse('2026-03-28T05:30:00Z'))).toBe(true)
    expect(isWithin(hours, Date.parse('2026-03-29T05:30:00Z'))).toBe(false)
  })

  it('cover each minute of the day, or their complement does', () => {
    const time = fc.nat(1439).map((minute) => new Date(minute * 60_000).toISOString().slice(11, 16))
    fc.assert(
      fc.property(time, time, fc.nat(1439), (from, to, minute) => {
        fc.pre(from !== to)
        const at = minute * 60_000
        const timezone = 'UTC'
        expect(isWithin({ from, to, timezone }, at)).toBe(
          !isWithin({ from: to, to: from, timezone }, at),
        )
      }),
    )
  })

  const night = { from: '22:00', to: '07:00', timezone: 'UTC' }
  const failed = event(
    { hook_event_name: 'SessionEnd', reason: 'error' },
    '2026-03-10T23:00:00.000Z',
  )
  const rule = { events: ['SessionEnd'], channels: ['desk'] }

  it.each([
    ['for every rule', { quiet_hours: night, rules: [rule] }, []],
    [
      'for all events except failures',
      { quiet_hours: { ...night, except: 'failure' }, rules: [rule] },
      ['desk'],
    ],
    [
      'for all rules except one that turns them off',
      { quiet_hours: night, rules: [{ ...rule, quiet_hours: 'off' }] },
      ['desk'],
    ],
    [
      'for the only rule that has them',
      {
        rules: [
          { ...rule, quiet_hours: night },
          { ...rule, channels: ['bell'] },
        ],
      },
      ['bell'],
    ],
  ])('silence notifications %s', (_, written, expected) => {
    expect(channelsFor(config(written), failed)).toEqual(expected)
  })
})

const VALUES: TemplateValues = {
  event: 'Stop',
  message: 'm',
  reason: '',
  session_id: 's',
  cwd: '/work/project',
  project: 'project',
  recorded_at: '2026-03-10T12:00:00.000Z',
}

describe('a template', () => {
  it('replaces fields by values, and does not expand values again', () => {
    const templates = { Stop: '{{ message }} in {{cwd}} {{message}}' }
    const message = '{{session_id}} $& {{message}}'
    expect(render('Stop', templates, { ...VALUES, message })).toBe(
      `${message} in /work/project ${message}`,
    )
  })

  it('removes control characters of terminals and of text direction', () => {
    const message = 'a\u001b[31m\nb\u0000c\u2028d\u202ee\u0085f'
    expect(render('Stop', { Stop: '{{message}}' }, { ...VALUES, message })).toBe('a [31m b c d e f')
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (any) => {
        const text = render('Stop', { Stop: '<{{message}}>' }, { ...VALUES, message: any })
        expect(text).not.toMatch(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u)
        expect(Array.from(text).length).toBeLessThanOrEqual(502)
      }),
    )
  })

  it('with an unknown field is refused', () => {
    expect(unknownField('{{message}} {{ mesage }}')).toBe('mesage')
    expect(unknownField('{{message}} { x } {{}')).toBeUndefined()
    expect(unknownField('{{}}')).toBe('')
  })

  it('exists for every event, and its text is never empty', () => {
    for (const hook_event_name of [
      'Notification',
      'Stop',
      'SubagentStop',
      'SessionEnd',
      'PostToolUse',
    ]) {
      const item = notificationOf(event({ hook_event_name }), 'desk', { templates: {} }, 0)
      expect(item.text).not.toBe('')
      expect(item.title).toContain(hook_event_name)
    }
    const silent = { templates: { Stop: '{{message}}' } }
    expect(notificationOf(event({ hook_event_name: 'Stop' }), 'desk', silent, 0).text).toBe('Stop')
  })
})

describe('the configuration of hooks', () => {
  it.each<[object, string, RegExp]>([
    [{ channels: { x: { type: 'fax' } } }, 'channels.x.type', /Expected 'desktop'/],
    [{ channels: { x: { type: 'team-chat' } } }, 'channels.x.url_env', /expected string/],
    [
      { channels: { x: { type: 'team-chat', url: 'https://x' } } },
      'channels.x.url_env',
      /expected string/,
    ],
    [
      { channels: { x: { type: 'team-chat', url_env: 'https://x' } } },
      'channels.x.url_env',
      /environment variable/,
    ],
    [{ channels: { X: { type: 'desktop' } } }, 'channels.X', /Invalid key/],
    [{ channels: { x: { type: 'sound', player: 'p' } } }, 'channels.x.file', /needs a file/],
    [{ channels: { x: { type: 'sound', file: 'a.wav' } } }, 'channels.x.file', /absolute path/],
    [{ channels: { x: { type: 'desktop', colour: 1 } } }, 'channels.x', /colour/],
    [{ rules: [{ events: ['Stopp'], channels: ['desk'] }] }, 'rules.0.events.0', /expected one of/],
    [{ rules: [{ events: [], channels: ['desk'] }] }, 'rules.0.events', />=1 items/],
    [
      { rules: [{ events: ['Stop'], channels: ['phone'] }] },
      'rules.0.channels.0',
      /no channel 'phone'; known: desk, bell/,
    ],
    [
      { rules: [{ events: ['Stop'], channels: ['desk'], when: 'never' }] },
      'rules.0.when',
      /"any"\|"failure"/,
    ],
    [{ quiet_hours: { from: '25:00', to: '07:00' } }, 'quiet_hours.from', /22:00/],
    [{ quiet_hours: { from: '07:00', to: '07:00' } }, 'quiet_hours.to', /same/],
    [
      { quiet_hours: { from: '22:00', to: '07:00', timezone: 'Mars/Base' } },
      'quiet_hours.timezone',
      /Europe/,
    ],
    [
      { templates: { Stop: '{{mesage}}' } },
      'templates.Stop',
      /no \{\{mesage\}\}; known: event, message/,
    ],
    [{ dedupe_seconds: -1 }, 'dedupe_seconds', />=0/],
    [{ rule: [] }, '', /rule/],
  ])('is refused when it is %j, at %s', (written, path, message) => {
    const { error } = hooksSchema.safeParse({ channels: CHANNELS, ...written })
    expect(error?.issues[0]?.path.join('.')).toBe(path)
    expect(error?.issues[0]?.message).toMatch(message)
  })

  it.each([
    [{ user: 'u' }, 'password_env'],
    [{ user: 'u', password_env: 'P', security: 'none' }, 'security'],
    [{ from: 'a@b\r\nBcc: c@d' }, 'from'],
    [{ to: [] }, 'to'],
    [{ port: 0 }, 'port'],
  ])('of an e-mail channel is refused with %j', (more, field) => {
    const mail = { type: 'email', host: 'mail.example.com', from: 'a@b.c', to: ['d@e.f'] }
    expect(hooksSchema.safeParse({ channels: { mail } }).success).toBe(true)
    const { error } = hooksSchema.safeParse({ channels: { mail: { ...mail, ...more } } })
    expect(error?.issues[0]?.path.slice(0, 3)).toEqual(['channels', 'mail', field])
  })
})
