import { describe, expect, it } from 'vitest'
import { momentOf } from '../../src/cli/options.ts'

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
