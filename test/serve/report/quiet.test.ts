import { expect, it } from 'vitest'
import * as adoption from '../../../src/serve/report/adoption.ts'
import type { Chart } from '../../../src/serve/report/chart.ts'
import type { Organisation } from '../../../src/serve/report/data.ts'
import * as oversight from '../../../src/serve/report/oversight.ts'
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

function clients(cli: number | null, web = cli) {
  const week = '2026-03-23'
  return [
    { week, client: 'cli', daily_users: cli },
    { week, client: 'web', daily_users: web },
  ]
}

const month = {
  month_days: [{ month: '2026-03', day_of_month: 31, billable_tokens: 110 }],
  limits: [{ month: '2026-03', users_past: 1, users_over: 1 }],
}

const period = {
  ...{ days: 28, period: 'current' as const, active_users: 10, tool_calls: 0, user_messages: 0 },
  ...{ sessions: 0, files: 0, git_commits: 0, git_prs_created: 0 },
}

const rule = {
  ...{ policy: 'models', value: 'm', status: 'not_allowed' as const, forbidden_use_days: 1 },
  ...{ forbidden_amount: null, since: null, changed_by: null },
}

const output = { week: '2026-03-23', billable_tokens: 1e6, git_prs_created: 0 }

it.each<[string, Pick<Chart, 'read'>, Partial<Organisation>, string]>([
  [
    'weekly active people who left and returned did not stay',
    adoption.activeUsers,
    { active_days: weekly(4, 0, 0, 4) },
    'Weekly active people stand at 4, as on the first day',
  ],
  [
    'weekly active people who are the same every day stay',
    adoption.activeUsers,
    { active_days: weekly(4, 4, 4, 4) },
    'Weekly active people stayed at 4 in 4 weeks',
  ],
  [
    'weekly active people are those of the last day on which they are known, before days without use',
    adoption.activeUsers,
    {
      active_days: [
        { day: '2026-03-27', daily: 3, weekly: 30, monthly: 40, stickiness: 0.5 },
        { day: '2026-03-28', daily: 3, weekly: 37, monthly: 40, stickiness: 0.5 },
        { day: '2026-03-29', daily: 0, weekly: null, monthly: null, stickiness: null },
      ],
    },
    'Weekly active people rose from 30 to 37 in 4 weeks, to 28 Mar 2026',
  ],
  [
    'whole weeks after the last known day are not of the period',
    adoption.lifecycle,
    {
      last_day: '2026-03-20',
      lifecycle_weeks: [
        { ...week, week: '2026-03-09' },
        { ...week, week: '2026-03-16' },
        { ...week, week: '2026-03-23', active_users: 0, retained_users: 0 },
      ],
    },
    'In the week of 16 Mar 2026 0 joined, 0 returned and 0 left',
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
    'no person used a client only if that is known of each',
    practice.clients,
    { client_weeks: clients(0, null) },
    'How many people used a client is not known for the last whole week',
  ],
  [
    'one commit per million credits is singular as it is shown',
    spend.efficiency,
    { output_weeks: [{ ...output, git_commits: 1.04, files: 1 }] },
    'Each million credits came with 1 commit and 1 file in the last whole week',
  ],
  [
    'a rule that was broken after the last known day was broken in the period',
    oversight.policy,
    { last_day: '2026-03-20', policy: [{ ...rule, last_forbidden_use: '2026-03-25' }] },
    '1 model was used in 4 weeks without being allowed',
  ],
  [
    'one person is singular',
    adoption.activeUsers,
    { last_day: '2026-03-28', active_days: weekly(1) },
    '1 person was active in the last 7 days',
  ],
  [
    'the credits of teams that are not known are not none',
    spend.teamSpend,
    { periods: [{ ...period, team: 'a', billable_tokens: null }] },
    'The credits of teams are not known',
  ],
  [
    'a limit that was passed is past',
    spend.monthSpend,
    month,
    'March 2026 stands at 110 credits; 1 person has passed a limit',
  ],
  [
    'people who have passed a limit are distinguished from those who will',
    spend.monthSpend,
    { ...month, limits: [{ month: '2026-03', users_past: 4, users_over: 5 }] },
    'March 2026 stands at 110 credits; 4 people have passed a limit, and at this rate 1 more will',
  ],
])('%s', (_, chart, rows, title) => {
  expect(chart.read(view(rows)).finding).toBe(title)
})

it('weeks after the last known day are not shown', () => {
  const lifecycle_weeks = ['2026-03-09', '2026-03-23'].map((name) => ({ ...week, week: name }))
  const { rows } = adoption.lifecycle.read(view({ last_day: '2026-03-20', lifecycle_weeks }))
  expect(rows.map((row) => row.week)).toEqual(['2026-03-09'])
})

it('a readiness report of the day after the last known day is shown', () => {
  const report = { repository: 'a', passing: 1, evaluated: 2, pass_rate: 0.5 }
  const readiness = ['2026-03-31', '2026-04-01'].map((day) => ({ ...report, day }))
  const { rows } = practice.readiness.read(view({ readiness }))
  expect(rows.map((row) => row.day)).toEqual(['2026-03-31', '2026-04-01'])
})
