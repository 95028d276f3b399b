import { describe, expect, it } from 'vitest'
import yargs from 'yargs'
import { momentOf, selectionOf, selectionOptions } from '../../src/cli/options.ts'

describe('a moment', () => {
  it.each([
    ['2026-03-01', '2026-03-01T23:59:59.999Z'],
    ['2024-02-29', '2024-02-29T23:59:59.999Z'],
    ['2026-03-01T06:00:00Z', '2026-03-01T06:00:00.000Z'],
    ['2026-03-01T06:00:00.5Z', '2026-03-01T06:00:00.500Z'],
    ['2026-03-01T06:00Z', '2026-03-01T06:00:00.000Z'],
    ['2026-03-01T01:00:00+02:00', '2026-02-28T23:00:00.000Z'],
  ])('%s is %s', (text, expected) => {
    expect(new Date(momentOf(text, '--as-of')).toISOString()).toBe(expected)
  })

  it.each([
    ...['', 'soon', 'yesterday', '2026', '2026-03', '2026-02-30', '2026-3-1', '20260301'],
    ...['2026-03-01 06:00:00Z', '2026-03-01T06:00:00', '2026-03-01T25:00:00Z'],
    ...['2026-02-30T06:00:00Z', '2026-03-01T06:00:00+99:00', '1772323200', 'Mar 1, 2026'],
  ])("'%s' is none", (text) => {
    expect(() => momentOf(text, '--as-of')).toThrow(`--as-of: '${text}' is not a time`)
  })
})

describe('what to ask for', () => {
  const parse = (...argv: string[]) =>
    selectionOf(selectionOptions(yargs(argv).exitProcess(false)).parseSync())

  it('is everything by default', () => {
    expect(parse()).toEqual({ within: {}, refetch: false, beside: { sessions: [], messages: [] } })
  })

  it('may be resources of analytics and beside them', () => {
    const { resources, beside } = parse('--only', 'tokens, sessions ,hook_events')
    expect(resources?.map(({ name }) => name)).toEqual(['tokens'])
    expect(beside?.resources).toEqual(['sessions', 'hook_events'])
  })

  it('may be sessions and messages by their ids, each flag any number of times', () => {
    const { beside } = parse(
      '--session',
      'a',
      '--session=b',
      '--message',
      'a/m',
      '--only',
      'users',
      '--only',
      'sessions,messages',
    )
    expect(beside).toEqual({
      resources: ['sessions', 'messages'],
      sessions: ['a', 'b'],
      messages: [{ sessionId: 'a', messageId: 'm' }],
    })
  })

  it.each([
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
})
