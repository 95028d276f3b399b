import { describe, expect, it } from 'vitest'
import { httpDate, retryAfterMs } from '../../src/client/rate-limit/header-values.ts'

const NOW = Date.parse('2026-11-21T12:00:00Z')

describe('Retry-After', () => {
  it.each<[string, Record<string, string>, number | undefined]>([
    ['is absent', {}, undefined],
    ['is empty', { 'retry-after': ' ' }, undefined],
    ['is seconds', { 'retry-after': '7' }, 7_000],
    ['is zero', { 'retry-after': '0' }, 0],
    ['has a fraction, against the standard', { 'retry-after': '1.5' }, 1_500],
    ['is negative', { 'retry-after': '-5' }, undefined],
    ['is not a number', { 'retry-after': 'soon' }, undefined],
    ['is an IMF-fixdate', { 'retry-after': 'Sat, 21 Nov 2026 12:00:30 GMT' }, 30_000],
    ['is an RFC 850 date', { 'retry-after': 'Saturday, 21-Nov-26 12:00:30 GMT' }, 30_000],
    ['is an asctime date', { 'retry-after': 'Sat Nov 21 12:00:30 2026' }, 30_000],
    ['is longer than a year', { 'retry-after': '9'.repeat(400) }, 366 * 86_400_000],
    ['is in the past', { 'retry-after': 'Sat, 21 Nov 2026 11:00:00 GMT' }, 0],
    [
      'is a date by a server clock that is an hour behind',
      { 'retry-after': 'Sat, 21 Nov 2026 11:00:30 GMT', date: 'Sat, 21 Nov 2026 11:00:00 GMT' },
      30_000,
    ],
    ...[
      'Thu, 01 Jan 1970 00:00:00 GMT',
      'Fri, 31 Dec 9999 23:59:59 GMT',
      'Tue, 31 Feb 2026 00:00:00 GMT',
      'now',
    ].map((date): [string, Record<string, string>, number] => [
      `is a date, and the Date header ${date} is ignored`,
      { 'retry-after': 'Sat, 21 Nov 2026 12:00:30 GMT', date },
      30_000,
    ]),
  ])('gives the expected wait when it %s', (_, headers, wait) => {
    expect(retryAfterMs(headers, NOW)).toBe(wait)
  })

  it.each([
    'Tue, 31 Feb 2026 00:00:00 GMT',
    'Sun, 29 Feb 2026 00:00:00 GMT',
    'Sat, 00 Nov 2026 00:00:00 GMT',
    'Sat, 31 Nov 2026 00:00:00 GMT',
    'Sat, 21 Nov 2026 24:00:00 GMT',
    'Sat, 21 Nov 2026 12:60:00 GMT',
    'Sat, 21 Nov 2026 12:00:61 GMT',
    'Sat, 21 Nov 2026 12:00:00',
    'Sat, 21 Nov 2026 12:00:00 CET',
    'Sat Feb 31 12:00:00 2026',
    'Tuesday, 31-Feb-26 12:00:00 GMT',
  ])('%s is not a date', (text) => {
    expect(httpDate(text)).toBe(undefined)
  })

  it.each([
    ['Thu, 29 Feb 2024 00:00:00 GMT', '2024-02-29T00:00:00Z'],
    ['Thu, 31 Dec 2026 23:59:60 GMT', '2027-01-01T00:00:00Z'],
  ])('%s is a date', (text, time) => {
    expect(httpDate(text)).toBe(Date.parse(time))
  })

  it('reads an asctime day of one digit', () => {
    expect(httpDate('Sun Nov  6 08:49:37 1994')).toBe(Date.parse('1994-11-06T08:49:37Z'))
  })
})
