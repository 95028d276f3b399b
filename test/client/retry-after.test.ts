import { describe, expect, it } from 'vitest'
import { httpDate, retryAfterMs } from '../../src/client/retry-after.ts'

const NOW = Date.parse('2026-11-21T12:00:00Z')

describe('Retry-After', () => {
  it.each<[string, Record<string, string>, number | undefined]>([
    ['is absent', {}, undefined],
    ['is empty', { 'retry-after': ' ' }, undefined],
    ['is seconds', { 'retry-after': '7' }, 7_000],
    ['is zero', { 'retry-after': '0' }, 0],
    ['has a fraction, though it may not', { 'retry-after': '1.5' }, 1_500],
    ['is negative', { 'retry-after': '-5' }, undefined],
    ['is no number', { 'retry-after': 'soon' }, undefined],
    ['is an IMF-fixdate', { 'retry-after': 'Sat, 21 Nov 2026 12:00:30 GMT' }, 30_000],
    ['is an RFC 850 date', { 'retry-after': 'Saturday, 21-Nov-26 12:00:30 GMT' }, 30_000],
    ['is an asctime date', { 'retry-after': 'Sat Nov 21 12:00:30 2026' }, 30_000],
    ['is in the past', { 'retry-after': 'Sat, 21 Nov 2026 11:00:00 GMT' }, 0],
    [
      'is a date of a server whose clock is an hour behind',
      { 'retry-after': 'Sat, 21 Nov 2026 11:00:30 GMT', date: 'Sat, 21 Nov 2026 11:00:00 GMT' },
      30_000,
    ],
  ])('%s', (_, headers, wait) => {
    expect(retryAfterMs(headers, NOW)).toBe(wait)
  })

  it('reads an asctime day of one digit', () => {
    expect(httpDate('Sun Nov  6 08:49:37 1994')).toBe(Date.parse('1994-11-06T08:49:37Z'))
  })
})
