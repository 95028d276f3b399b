import { expect, it } from 'vitest'
import {
  change,
  nameText,
  percent,
  teamText,
  tickAmount,
  wholeAmount,
} from '../../../src/serve/report/words.ts'

it('long names that begin alike can be told apart', () => {
  expect(nameText('atlas-3-20260114-thinking', 16)).toBe('atlas-3-…hinking')
  expect(nameText('atlas-3-20260114-turbo', 16)).toBe('atlas-3-…4-turbo')
  expect(nameText('atlas-3', 16)).toBe('atlas-3')
  expect(nameText('atlas-3', 1)).toBe('…')
})

it.each([-100, 0])('nothing has a change in percent from %i', (before) => {
  expect(change(50, before)).toBeNull()
})

it('a letter outside the basic plane is not cut in two', () => {
  expect(nameText('🙂🙂🙂🙂', 3)).toBe('🙂…🙂')
})

it('all ticks of an axis are written alike', () => {
  const ticks = [0, 50_000, 100_000]
  expect(ticks.map((tick, at) => tickAmount(tick, at, ticks))).toEqual(['0', '50K', '100K'])
  expect([0, 50_000].map((tick, at) => wholeAmount(tick, at, [0, 50_000]))).toEqual(['0', '50,000'])
})

it('a team that calls itself a team is not called one again', () => {
  expect(teamText('data')).toBe('Team data')
  expect(teamText('team-7')).toBe('team-7')
  expect(teamText('teamwork')).toBe('Team teamwork')
})

it.each([
  [0, '0%'],
  [0.0001, '<0.1%'],
  [0.004, '0.4%'],
  [0.344, '34%'],
  [0.9949, '99.5%'],
  [0.9966, '99.7%'],
  [0.9999, '>99.9%'],
  [0.1 + 0.2 + 0.7 - 1e-12, '100%'],
  [1, '100%'],
  [1.0001, '>100%'],
  [1.004, '100.4%'],
  [2.5, '250%'],
])('a share is shown as all or nothing only if it is: %d, %s', (share, text) => {
  expect(percent(share)).toBe(text)
})

it.each([
  [1350, 1350, 'unchanged'],
  [1350, 1346, 'up 0.3%'],
  [100_000, 100_001, 'down <0.1%'],
  [0.1 + 0.2, 0.3, 'unchanged'],
  [3, 1000, 'down 99.7%'],
  [0, 1000, 'down 100%'],
])(
  'only equal numbers, but for rounding, are unchanged: %d after %d is %s',
  (now, before, text) => {
    expect(change(now, before)).toBe(text)
  },
)
