import { describe, expect, it } from 'vitest'
import { waitOf, type Wait } from '../../src/client/rate-limit/headers.ts'

const NOW = Date.parse('2026-11-21T12:00:00Z')
const S = NOW / 1000
const BACKOFF: Wait = { waitMs: 250, source: 'backoff' }
const retryAfter = (waitMs: number): Wait => ({ waitMs, source: 'retry-after' })
const hinted = (waitMs: number): Wait => ({ waitMs, source: 'ratelimit' })
/** A server whose clock is an hour behind. */
const BEHIND = { date: 'Sat, 21 Nov 2026 11:00:00 GMT' }
const x = (reset: string, more: Record<string, string> = {}): Record<string, string> => ({
  'x-ratelimit-limit': '100',
  'x-ratelimit-remaining': '0',
  'x-ratelimit-reset': reset,
  ...more,
})

describe('the wait after a refusal', () => {
  it.each<[string, Record<string, string>, Wait]>([
    ['no header', {}, BACKOFF],
    ['Retry-After of zero', { 'retry-after': '0' }, retryAfter(0)],
    ['Retry-After before all else', x('60', { 'retry-after': '5' }), retryAfter(5_000)],
    ['Retry-After longer than the reset', x('5', { 'retry-after': '60' }), retryAfter(60_000)],
    ['Retry-After, malformed, and a reset', x('9', { 'retry-after': 'soon' }), hinted(9_000)],
    ['Retry-After-Ms', { 'retry-after-ms': '1250' }, hinted(1_250)],
    ['Retry-After-Ms, malformed', { 'retry-after-ms': 'x' }, BACKOFF],
    ['X-RateLimit-Retry-After, seconds', { 'x-ratelimit-retry-after': '12' }, hinted(12_000)],
    ['X-RateLimit-Retry-After, epoch', { 'x-ratelimit-retry-after': `${S + 12}` }, hinted(12_000)],
    ['X-Rate-Limit-Retry-After', { 'x-rate-limit-retry-after': '12' }, hinted(12_000)],
    ['X-RateLimit-Retry-After, past', { 'x-ratelimit-retry-after': `${S - 9}` }, BACKOFF],

    ['RateLimit, draft 08', { ratelimit: '"default";r=0;t=30' }, hinted(30_000)],
    ['RateLimit, draft 08 with spaces', { ratelimit: '"default" ; r=0; t=30' }, BACKOFF],
    [
      'RateLimit, draft 08, spaces after the semicolon',
      { ratelimit: '"default"; r=0; t=30' },
      hinted(30_000),
    ],
    ['RateLimit, draft 08 by token', { ratelimit: 'default;r=0;t=30' }, hinted(30_000)],
    [
      'RateLimit, draft 08, two quotas',
      { ratelimit: '"burst";r=0;t=5,"day";r=9;t=999' },
      hinted(5_000),
    ],
    [
      'RateLimit, draft 08, both used up',
      { ratelimit: '"burst";r=0;t=5, "day";r=0;t=60' },
      hinted(60_000),
    ],
    [
      'RateLimit, draft 08 with a partition key',
      { ratelimit: '"a";r=0;t=3;pk=:YWJj:' },
      hinted(3_000),
    ],
    [
      'RateLimit, draft 08, unknown parameters',
      { ratelimit: '"a";r=0;t=3;foo="b;c,d";bar' },
      hinted(3_000),
    ],
    [
      'RateLimit, draft 08, a quote in the name',
      { ratelimit: String.raw`"a\"b";r=0;t=3` },
      hinted(3_000),
    ],
    ['RateLimit, draft 08 without t', { ratelimit: '"default";r=0' }, BACKOFF],
    ['RateLimit, draft 08 without r', { ratelimit: '"default";t=30' }, BACKOFF],
    ['RateLimit, draft 08 with something left', { ratelimit: '"default";r=5;t=30' }, BACKOFF],
    ['RateLimit, draft 08 with a negative t', { ratelimit: '"default";r=0;t=-30' }, BACKOFF],
    ['RateLimit, draft 08, never closed', { ratelimit: '"default;r=0;t=30' }, BACKOFF],
    ['RateLimit, draft 08, a trailing comma', { ratelimit: '"default";r=0;t=30,' }, BACKOFF],
    ['RateLimit, draft 08, absurd', { ratelimit: '"default";r=0;t=90000' }, BACKOFF],
    ['RateLimit-Policy alone', { 'ratelimit-policy': '"default";q=100;w=60' }, BACKOFF],
    [
      'RateLimit, draft 08, milliseconds by the window',
      { ratelimit: '"a";r=0;t=30000', 'ratelimit-policy': '"a";q=100;w=60' },
      hinted(30_000),
    ],
    ['RateLimit, draft 07', { ratelimit: 'limit=100, remaining=0, reset=30' }, hinted(30_000)],
    [
      'RateLimit, draft 07, no spaces',
      { ratelimit: 'limit=100,remaining=0,reset=30' },
      hinted(30_000),
    ],
    [
      'RateLimit, draft 07 with some left',
      { ratelimit: 'limit=100, remaining=9, reset=30' },
      BACKOFF,
    ],
    ['RateLimit, draft 07, malformed', { ratelimit: 'limit=100, remaining=, reset=30' }, BACKOFF],
    ['RateLimit, draft 07, negative', { ratelimit: 'limit=100, remaining=0, reset=-3' }, BACKOFF],
    [
      'RateLimit, draft 07, milliseconds by the window',
      { ratelimit: 'limit=9, remaining=0, reset=5000', 'ratelimit-policy': '9;w=10' },
      hinted(5_000),
    ],

    ['RateLimit-Reset', { 'ratelimit-remaining': '0', 'ratelimit-reset': '8' }, hinted(8_000)],
    ['RateLimit-Reset alone', { 'ratelimit-reset': '8' }, hinted(8_000)],
    [
      'RateLimit-Limit with its window',
      {
        'ratelimit-limit': '100, 100;w=60',
        'ratelimit-remaining': '0',
        'ratelimit-reset': '45000',
      },
      hinted(45_000),
    ],
    ['X-RateLimit-Reset, a delta', x('30'), hinted(30_000)],
    ['X-RateLimit-Reset, a delta with a fraction', x('0.25'), hinted(250)],
    ['X-RateLimit-Reset, an epoch in seconds', x(`${S + 30}`), hinted(30_000)],
    ['X-RateLimit-Reset, an epoch with a fraction', x(`${S + 30}.5`), hinted(30_500)],
    ['X-RateLimit-Reset, an epoch in milliseconds', x(`${NOW + 30_000}`), hinted(30_000)],
    ['X-RateLimit-Reset, an epoch in microseconds', x(`${NOW + 30_000}000`), hinted(30_000)],
    ['X-RateLimit-Reset, an epoch in nanoseconds', x(`${NOW + 30_000}000000`), hinted(30_000)],
    [
      'X-RateLimit-Reset, an epoch by a skewed clock',
      x(`${S - 3600 + 30}`, BEHIND),
      hinted(30_000),
    ],
    [
      'X-RateLimit-Reset, an epoch, the server an hour behind',
      x(`${S - 60}`, BEHIND),
      hinted(3_540_000),
    ],
    ['X-RateLimit-Reset, a past epoch', x(`${S - 30}`), BACKOFF],
    ['X-RateLimit-Reset, an absurd epoch', x(`${S + 90_000}`), BACKOFF],
    ['X-RateLimit-Reset, an absurd delta', x('86401'), BACKOFF],
    ['X-RateLimit-Reset, a whole day', x('86400'), hinted(86_400_000)],
    [
      'X-RateLimit-Reset, an absurd delta, and Retry-After',
      x('86401', { 'retry-after': '90000' }),
      retryAfter(90_000_000),
    ],
    ['X-RateLimit-Reset, zero', x('0'), BACKOFF],
    ['X-RateLimit-Reset, a negative', x('-30'), BACKOFF],
    ['X-RateLimit-Reset, NaN', x('NaN'), BACKOFF],
    ['X-RateLimit-Reset, a hexadecimal', x('0x10'), BACKOFF],
    ['X-RateLimit-Reset, an exponent', x('1e3'), BACKOFF],
    ['X-RateLimit-Reset, empty', x(''), BACKOFF],
    ['X-RateLimit-Reset, 6m0s', x('6m0s'), hinted(360_000)],
    ['X-RateLimit-Reset, 1h2m3.5s', x('1h2m3.5s'), hinted(3_723_500)],
    ['X-RateLimit-Reset, 250ms', x('250ms'), hinted(250)],
    ['X-RateLimit-Reset, 1d', x('1d'), hinted(86_400_000)],
    ['X-RateLimit-Reset, 1d1s', x('1d1s'), BACKOFF],
    ['X-RateLimit-Reset, a duration with rubbish', x('6m later'), BACKOFF],
    ['X-RateLimit-Reset, an HTTP date', x('Sat, 21 Nov 2026 12:00:30 GMT'), hinted(30_000)],
    ['X-RateLimit-Reset, an RFC 3339 date', x('2026-11-21T12:00:30Z'), hinted(30_000)],
    [
      'X-RateLimit-Reset, an RFC 3339 date of another zone',
      x('2026-11-21T14:00:30.5+02:00'),
      hinted(30_500),
    ],
    [
      'X-RateLimit-Reset, an RFC 3339 date by a skewed clock',
      x('2026-11-21T11:00:30Z', BEHIND),
      hinted(30_000),
    ],
    ['X-RateLimit-Reset, an impossible date', x('2026-13-41T12:00:30Z'), BACKOFF],
    ['X-RateLimit-Remaining, something left', x('30', { 'x-ratelimit-remaining': '5' }), BACKOFF],
    [
      'X-RateLimit-Remaining, malformed',
      x('30', { 'x-ratelimit-remaining': 'many' }),
      hinted(30_000),
    ],
    [
      'X-Rate-Limit',
      { 'x-rate-limit-remaining': '0', 'x-rate-limit-reset': `${S + 4}` },
      hinted(4_000),
    ],
    ['X-RateLimit-Reset-After', x(`${S + 4}`, { 'x-ratelimit-reset-after': '3.5' }), hinted(3_500)],
    [
      'X-RateLimit-Reset by unit, one of them used up',
      {
        'x-ratelimit-remaining-requests': '0',
        'x-ratelimit-reset-requests': '12s',
        'x-ratelimit-remaining-tokens': '900',
        'x-ratelimit-reset-tokens': '6m0s',
      },
      hinted(12_000),
    ],
    [
      'X-RateLimit-Reset by window',
      { 'x-ratelimit-remaining-minute': '0', 'x-ratelimit-reset-minute': '20000' },
      hinted(20_000),
    ],
    [
      'X-RateLimit-Reset and a longer RateLimit-Reset',
      { ...x('5'), 'ratelimit-reset': '9' },
      hinted(9_000),
    ],
    [
      'X-RateLimit-Reset beside a malformed RateLimit',
      { ...x('5'), ratelimit: '?;?', 'ratelimit-policy': '???' },
      hinted(5_000),
    ],
  ])('follows the headers: %s', (_, headers, wait) => {
    expect(waitOf(headers, 1, NOW, 0.5)).toEqual(wait)
  })

  it('doubles with each attempt without a header, up to 30 s', () => {
    const waits = [1, 2, 3, 20].map((attempt) => waitOf({}, attempt, NOW, 0.5).waitMs)
    expect(waits).toEqual([250, 500, 1_000, 15_000])
  })
})
