import { expect, it } from 'vitest'
import * as adoption from '../../../src/serve/report/adoption.ts'
import type { Chart } from '../../../src/serve/report/chart.ts'
import type { Organisation } from '../../../src/serve/report/data.ts'
import * as practice from '../../../src/serve/report/practice.ts'
import * as spend from '../../../src/serve/report/spend.ts'
import { view } from './sample.ts'

const week = {
  ...{ active_users: 9, new_users: 0, retained_users: 9, resurrected_users: 0 },
  ...{ churned_users: 0, is_left_edge: false },
}

function weekly(...people: readonly number[]) {
  return people.map((weekly, at) => {
    return { day: `2026-03-${28 + at}`, daily: 0, weekly, monthly: 9, stickiness: 0 }
  })
}

function clients(daily_users: number | null) {
  return ['cli', 'web'].map((client) => ({ week: '2026-03-23', client, daily_users }))
}

const month = {
  month_days: [{ month: '2026-03', day_of_month: 31, billable_tokens: 110 }],
  limits: [{ month: '2026-03', users_past: 1, users_over: 1 }],
}

const output = { week: '2026-03-23', billable_tokens: 1e6, git_prs_created: 0 }

it.each<[string, Pick<Chart, 'read'>, Partial<Organisation>, string]>([
  [
    'weekly active people who left and returned did not stay',
    adoption.activeUsers,
    { active_days: weekly(4, 0, 0, 4) },
    'Weekly active people stand at 4, as at the start of the period',
  ],
  [
    'weekly active people who are the same every day stay',
    adoption.activeUsers,
    { active_days: weekly(4, 4, 4, 4) },
    'Weekly active people stayed at 4 in 4 weeks',
  ],
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
  [
    'no client is used by the most people if no person was active',
    practice.clients,
    { client_weeks: clients(0) },
    'No person used a client in the last whole week',
  ],
  [
    'no client is used by the most people if they are not known',
    practice.clients,
    { client_weeks: clients(null) },
    'How many people used a client is not known for the last whole week',
  ],
  [
    'one commit for each million credits is singular as it is shown',
    spend.efficiency,
    { output_weeks: [{ ...output, git_commits: 1.04, files: 1 }] },
    'Each million credits came with 1 commit and 1 file in the last whole week',
  ],
  [
    'a limit that was passed is past',
    spend.monthSpend,
    month,
    'March 2026 stands at 110 credits; 1 person has passed a limit',
  ],
  [
    'limits that were passed and that will be are told apart',
    spend.monthSpend,
    { ...month, limits: [{ month: '2026-03', users_past: 4, users_over: 5 }] },
    'March 2026 stands at 110 credits; 4 people have passed a limit, and 1 will',
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
