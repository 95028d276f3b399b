import { expect, it } from 'vitest'
import { nameText, teamText, tickAmount, wholeAmount } from '../../../src/serve/report/words.ts'

it('long names that begin alike can be told apart', () => {
  expect(nameText('atlas-3-20260114-thinking', 16)).toBe('atlas-3-…hinking')
  expect(nameText('atlas-3-20260114-turbo', 16)).toBe('atlas-3-…4-turbo')
  expect(nameText('atlas-3', 16)).toBe('atlas-3')
  expect(nameText('atlas-3', 1)).toBe('…')
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
