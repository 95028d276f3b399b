import { expect, it } from 'vitest'
import { planSync, type FetchTask, type PlanOptions } from '../../../src/extract/plan/sync-plan.ts'
import type { Interval } from '../../../src/lake/ledger.ts'
import { DAY_TOTALS, RESOURCES } from '../../../src/lake/resources.ts'
import {
  addDays,
  eachDay,
  HISTORY_START,
  parseDay,
  startOf,
  type Day,
} from '../../../src/lib/days.ts'
import { interval, ledgerOf } from '../../support/intervals.ts'

const HOUR = 3_600_000
const FIRST_NIGHT = parseDay('2026-03-01', 'a day')
const FAILED = { first: HISTORY_START, last: parseDay('2026-02-20', 'a day') }

/** The ledger with these days, and with the totals of days of users. */
function withTotals(days: readonly Interval[]): ReadonlyMap<string, Interval> {
  const range = { first: HISTORY_START, last: addDays(FIRST_NIGHT, 100) }
  const totals = DAY_TOTALS.flatMap(({ name }) => eachDay(range).map((day) => interval(name, day)))
  return ledgerOf([...totals, ...days])
}

function at(today: Day, resource: string, within: PlanOptions['within'] = {}): PlanOptions {
  const resources = RESOURCES.filter(({ name }) => name === resource)
  return { today, now: startOf(today) + 2 * HOUR, resources, within }
}

const windows = (tasks: readonly FetchTask[]): string[] =>
  tasks.map(({ range }) => `${range.first}..${range.last}`)

it.each([
  ['users', 'never landed', { status: 'failed', fetchedAt: null, file: null }],
  ['users', 'cannot be rechecked', { error: 'GET /users: 500' }],
  ['tools', 'never landed', { status: 'failed', fetchedAt: null, file: null }],
  ['tools', 'cannot be rechecked', { error: 'GET /tools: 500' }],
] as const)(
  'a plan begins with another failed day of %s each night: one that %s',
  (resource, _, change) => {
    const failed = eachDay(FAILED)
    const ledger = withTotals(failed.map((day) => interval(resource, day, change)))
    const asked = new Set<Day>()
    for (let night = 0; night < 60; night += 1) {
      const plan = planSync(ledger, at(addDays(FIRST_NIGHT, night), resource, FAILED))
      const [first] = plan
      const begins = resource === 'users' ? first?.range.first : first?.first
      expect(begins).toBeDefined()
      if (begins !== undefined) asked.add(begins)
      expect(plan.flatMap(({ days }) => days.map(({ day }) => day)).sort()).toEqual(failed)
    }
    expect(asked.size).toBe(failed.length)
  },
)

it('many failed days are requested after the others, in a window of their own', () => {
  const [first, last] = [addDays(HISTORY_START, 4), addDays(HISTORY_START, 16)]
  const failed = eachDay({ first, last }).map((day) => {
    return interval('tools', day, { error: 'GET /tools: 500' })
  })
  const plan = planSync(withTotals(failed), at(addDays(HISTORY_START, 20), 'tools'))
  expect(windows(plan)).toEqual([
    '2026-01-14..2026-01-17',
    '2026-01-31..2026-02-02',
    '2026-01-18..2026-01-30',
  ])
  expect(plan.map(({ first }) => first)).toEqual([undefined, undefined, '2026-01-26'])
})

it('few failed days are requested with the others, in one window', () => {
  const failed = eachDay({ first: HISTORY_START, last: addDays(HISTORY_START, 3) }).map((day) => {
    return interval('tools', day, { error: 'GET /tools: 500' })
  })
  const plan = planSync(withTotals(failed), at(addDays(HISTORY_START, 5), 'tools'))
  expect(windows(plan)).toEqual(['2026-01-14..2026-01-18'])
})
