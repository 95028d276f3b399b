import { expect, test } from 'vitest'
import { oneLine, counted, digits } from '../../src/lib/text.ts'
import { aligned, duration, toSecond } from '../../src/observe/words.ts'

test.each([
  [0, '0ms'],
  [340, '340ms'],
  [9500, '9.5s'],
  [59_949, '59.9s'],
  [59_950, '1m 00s'],
  [252_000, '4m 12s'],
  [3_599_600, '1h 00m'],
  [7_380_000, '2h 03m'],
  [27_101_276_000, '314 days'],
])('a duration of %d ms is shown as %s', (ms, text) => {
  expect(duration(ms)).toBe(text)
})

test.each([
  ['2026-03-01T06:00:00.123Z', '2026-03-01T06:00:00Z'],
  ['2026-03-01T06:00:00Z', '2026-03-01T06:00:00Z'],
  ['soon.5', 'soon.5'],
])('the time %s is shown to the second as %s', (instant, text) => {
  expect(toSecond(instant)).toBe(text)
})

test('counts are shown with thousands separators, and nouns in singular or plural', () => {
  expect(digits(1_234_567)).toBe('1,234,567')
  expect(counted(1, 'day')).toBe('1 day')
  expect(counted(2488, 'interval')).toBe('2,488 intervals')
})

test('law 11: text of a server is shown on one line without terminal commands', () => {
  expect(oneLine('first\r\nsecond\u001b[2J\u202e!')).toBe('first second [2J !')
})

test('very many rows, as of a fleet, are aligned', () => {
  const lines = aligned(Array.from({ length: 200_000 }, (_, at) => ['org', String(at)]))
  expect(lines[0]).toBe('org       0')
})
