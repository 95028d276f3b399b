import { expect, it } from 'vitest'
import * as adoption from '../../../src/serve/report/adoption.ts'
import type { Chart } from '../../../src/serve/report/chart.ts'
import type { Organisation } from '../../../src/serve/report/data.ts'
import * as practice from '../../../src/serve/report/practice.ts'
import { view } from './sample.ts'

const week = {
  ...{ active_users: 9, new_users: 0, retained_users: 9, resurrected_users: 0 },
  ...{ churned_users: 0, is_left_edge: false },
}

it.each<[string, Pick<Chart, 'read'>, Partial<Organisation>, string]>([
  [
    'whole weeks after the last day with use are not of the period',
    adoption.lifecycle,
    {
      last_day: '2026-03-20',
      lifecycle_weeks: [
        { ...week, week: '2026-03-09' },
        { ...week, week: '2026-03-23', active_users: 0, retained_users: 0 },
      ],
    },
    'In the last whole week 0 joined, 0 returned and 0 left',
  ],
])('%s', (_, chart, rows, title) => {
  expect(chart.read(view(rows)).finding).toBe(title)
})

it('weeks after the last day with use are not shown', () => {
  const lifecycle_weeks = ['2026-03-09', '2026-03-23'].map((name) => ({ ...week, week: name }))
  const { rows } = adoption.lifecycle.read(view({ last_day: '2026-03-20', lifecycle_weeks }))
  expect(rows.map((row) => row.week)).toEqual(['2026-03-09'])
})

it('a readiness report of the day after the last day with use is shown', () => {
  const report = { repository: 'a', passing: 1, evaluated: 2, pass_rate: 0.5 }
  const readiness = ['2026-03-31', '2026-04-01'].map((day) => ({ ...report, day }))
  const { rows } = practice.readiness.read(view({ readiness }))
  expect(rows.map((row) => row.day)).toEqual(['2026-03-31', '2026-04-01'])
})
