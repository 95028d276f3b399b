import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addDays, daysBetween, HISTORY_START, startOf, type Day } from '../../../src/lib/days.ts'
import { planSync, type FetchTask } from '../../../src/extract/plan/sync-plan.ts'
import { RESOURCES } from '../../../src/lake/resources.ts'
import { intervalKey, isSettled, type Interval } from '../../../src/lake/ledger.ts'
import { interval } from '../../support/intervals.ts'

const HOUR = 3_600_000

/** Nights of which only the ledger is kept. */
class Nights {
  readonly #ledger = new Map<string, Interval>()
  readonly #lastRecheck = new Map<string, number>()
  nights = 0
  /** The most nights between two rechecks of a final day. */
  longestRest = 0

  /** Plans, lands what is planned, and returns the plan. */
  run(today: Day, fetchedAt = startOf(today) + 2 * HOUR): FetchTask[] {
    const now = startOf(today) + 2 * HOUR
    const tasks = planSync(this.#ledger, { today, now })
    this.nights += 1
    for (const { resource, days } of tasks) {
      for (const { day } of days) this.#land(resource.name, day, fetchedAt)
    }
    for (const [key, interval] of this.#ledger) {
      const rest = this.nights - (this.#lastRecheck.get(key) ?? 0)
      if (isSettled(interval)) this.longestRest = Math.max(this.longestRest, rest)
    }
    return tasks
  }

  #land(resource: string, day: Day, now: number): void {
    const key = intervalKey(resource, day)
    this.#lastRecheck.set(key, this.nights)
    this.#ledger.set(key, interval(resource, day, { fetchedAt: now }))
  }
}

it('law 8: a day that was fetched at a time that has not come is rechecked, once', () => {
  const nights = new Nights()
  const today = addDays(HISTORY_START, 20)
  nights.run(today, startOf(addDays(today, 30)))
  const again = nights.run(today)
  expect(again.flatMap(({ days }) => days)).toHaveLength(20 * RESOURCES.length)
  expect(nights.run(today)).toEqual([])
})

it('law 2: a day that was fetched by a clock that is a day ahead is not rechecked at once', () => {
  const nights = new Nights()
  const today = addDays(HISTORY_START, 20)
  nights.run(today, startOf(addDays(today, 1)) + 23 * HOUR)
  expect(nights.run(today)).toEqual([])
})

describe('the recheck of final days', () => {
  it('covers every final day within 28 nights, even where nights are missed', () => {
    const isRun = fc.array(fc.boolean(), { minLength: 70, maxLength: 70 })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 150 }), isRun, fc.boolean(), (age, runs, isNightly) => {
        const nights = new Nights()
        for (const [index, isRunning] of runs.entries()) {
          if (isNightly || isRunning) nights.run(addDays(HISTORY_START, age + index))
        }
        expect(nights.longestRest).toBeLessThanOrEqual(29)
      }),
      { numRuns: 12 },
    )
  })

  it('costs a night after 300 days of history one request besides that of each resource', () => {
    const nights = new Nights()
    nights.run(addDays(HISTORY_START, 270))
    const inWindows = ({ resource }: FetchTask): boolean => resource.grain === 'days'
    const requests: number[] = []
    for (let age = 271; age <= 360; age += 1) {
      const tasks = nights.run(addDays(HISTORY_START, age))
      if (age > 300) requests.push(tasks.filter(inWindows).length)
    }
    expect(Math.max(...requests)).toBe(RESOURCES.length)
    expect(Math.min(...requests)).toBe(RESOURCES.length - 1)
  })

  it('spreads the days of users evenly over the nights', () => {
    const nights = new Nights()
    nights.run(addDays(HISTORY_START, 300))
    for (let age = 301; age <= 360; age += 1) {
      const tasks = nights.run(addDays(HISTORY_START, age))
      const users = tasks.filter(({ resource }) => resource.grain === 'users')
      expect(users.length).toBeLessThanOrEqual(
        6 + Math.ceil(daysBetween(HISTORY_START, addDays(HISTORY_START, age)) / 28),
      )
    }
  })
})
