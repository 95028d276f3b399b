import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addDays, daysBetween, dayOf, eachDay, isDay, MS_PER_DAY } from '../../src/lib/days.ts'

const days = fc.integer({ min: 0, max: 40_000 }).map((count) => dayOf(count * MS_PER_DAY))

describe('a day', () => {
  it.each([
    ['2026-02-28', true],
    ['2024-02-29', true],
    ['2026-02-29', false],
    ['2026-04-31', false],
    ['2026-13-01', false],
    ['2026-00-10', false],
    ['2026-01-00', false],
    ['2026-01-32', false],
    ['2026-1-01', false],
    [' 2026-01-01', false],
    ['2026-01-01T00:00:00Z', false],
    ['', false],
  ])("'%s': %s", (text, expected) => {
    expect(isDay(text)).toBe(expected)
  })
})

describe('days', () => {
  it('between two days are as many as are added to the first to get the second', () => {
    fc.assert(
      fc.property(days, fc.integer({ min: -20_000, max: 20_000 }), (day, count) => {
        expect(daysBetween(day, addDays(day, count))).toBe(count)
      }),
    )
  })

  it('of a range are all calendar days from its first to its last, in order', () => {
    fc.assert(
      fc.property(days, fc.integer({ min: -3, max: 800 }), (first, count) => {
        const all = eachDay({ first, last: addDays(first, count - 1) })
        expect(all).toHaveLength(Math.max(0, count))
        expect(all.every(isDay)).toBe(true)
        expect(all).toEqual([...new Set(all)].sort())
      }),
    )
  })
})
