import { expect, it } from 'vitest'
import * as adoption from '../../../src/serve/report/adoption.ts'
import type { Chart } from '../../../src/serve/report/chart.ts'
import { sections } from '../../../src/serve/report/charts.ts'
import type { Organisation } from '../../../src/serve/report/data.ts'
import { headlines, trust } from '../../../src/serve/report/headlines.ts'
import * as practice from '../../../src/serve/report/practice.ts'
import * as spend from '../../../src/serve/report/spend.ts'
import { organisation } from './sample.ts'

const METRICS = {
  ...{ billable_tokens: 0, tool_calls: 0, user_messages: 0, files: 0 },
  ...{ git_commits: 0, git_prs_created: 0 },
}

function period(days: number, isCurrent: boolean, values: object) {
  const whole = { days, is_current: isCurrent, team: null, active_users: 10, sessions: 0 }
  return { ...METRICS, ...whole, ...values }
}

function month(name: string, credits: readonly number[]) {
  return credits.map((billable_tokens, at) => ({
    ...{ month: name, day_of_month: at + 1, days_in_month: 31, billable_tokens },
  }))
}

const cohort = {
  ...{ cohort: '2026-02-02', week_number: 4, cohort_users: 10, active_users: 6 },
  ...{ retention: 0.6, is_left_edge: false },
}

it.each<[string, Pick<Chart, 'read'>, Partial<Organisation>, string]>([
  [
    'weekly active people are compared at both ends of the period',
    adoption.activeUsers,
    {
      active_days: [
        { day: '2026-03-30', daily: 3, weekly: 30, monthly: 40 },
        { day: '2026-03-31', daily: 3, weekly: 37, monthly: 40 },
      ],
    },
    'Weekly active people rose from 30 to 37 in 13 weeks',
  ],
  [
    'days before the period are not compared',
    adoption.activeUsers,
    {
      active_days: [
        { day: '2025-03-30', daily: 3, weekly: 1, monthly: 40 },
        { day: '2026-03-31', daily: 3, weekly: 37, monthly: 40 },
      ],
    },
    'Weekly active people stayed at 37 in 13 weeks',
  ],
  [
    'a running month is compared with the same days of the month before',
    spend.monthSpend,
    { month_days: [...month('2026-02', [100, 200, 900]), ...month('2026-03', [110, 210])] },
    'March 2026 stands at 210 credits, up 5% on the same days of February 2026',
  ],
  [
    'a limit that people will pass stands in the title',
    spend.monthSpend,
    {
      month_days: month('2026-03', [110]),
      limits: [
        {
          ...{ month: '2026-03', users: 9, users_over: 1, forecast: 1, credit_limit: 1 },
          users_without_limit: 0,
        },
      ],
    },
    'March 2026 stands at 110 credits; 1 person will pass a limit',
  ],
  [
    'retention leaves out cohorts at the left edge of history',
    adoption.retention,
    {
      retention_weeks: [
        { ...cohort, cohort: '2026-01-12', retention: 1, active_users: 10, is_left_edge: true },
        cohort,
      ],
    },
    '60% of new people are active four weeks later',
  ],
  [
    'a tool is named with its share of all calls',
    practice.tools,
    {
      tools: [
        { kind: 'tool', days: 91, name: 'Read', invocations: 29, share: 0.29, names: 3 },
        { kind: 'server', days: 91, name: 'github', invocations: 9, share: 1, names: 1 },
        { kind: 'tool', days: 28, name: 'Edit', invocations: 9, share: 1, names: 1 },
      ],
    },
    'Read is the most used of 3 tools: 29% of calls',
  ],
  ['an empty chart says what is not known', practice.servers, {}, 'No MCP server was used'],
  [
    'a served name cannot turn the direction of the title',
    practice.servers,
    {
      tools: [{ kind: 'server', days: 91, name: 'a\u202eb', invocations: 9, share: 1, names: 1 }],
    },
    'a b leads 1 MCP server with 9 calls',
  ],
])('%s', (_, chart, rows, finding) => {
  const view = { organisation: organisation(rows), days: 91, team: null }
  expect(chart.read(view).finding).toBe(finding)
})

it('a chart of an organisation without data has a title and no rows', () => {
  const view = { organisation: organisation({ last_day: null }), days: 28, team: null }
  const charts = sections(true).flatMap((section) => section.charts)
  expect(charts.map((chart) => chart.read(view).rows)).toEqual(charts.map(() => []))
  expect(charts.map((chart) => chart.read(view).finding)).not.toContain('')
})

it('headlines compare with the period before, where there is one', () => {
  const periods = [
    period(28, true, { billable_tokens: 300, active_users: 10 }),
    period(28, false, { billable_tokens: 200, active_users: 10 }),
    period(91, true, { billable_tokens: 900, active_users: 12 }),
  ]
  const view = { organisation: organisation({ periods }), days: 28, team: null }
  expect(headlines(view)[1]).toEqual({ label: 'Credits', value: '300', change: 'up 50%' })
  expect(headlines(view)[2]).toEqual({ label: 'Credits a person', value: '30', change: 'up 50%' })
  expect(headlines({ ...view, days: 91 })[1]).toEqual({
    ...{ label: 'Credits', value: '900', change: null },
  })
})

it.each([
  ['complete', {}, 'good', 'Complete to 31 Mar 2026', []],
  [
    'provisional',
    { verdict: 'provisional', data_through: '2026-03-30', missing_days: 1 },
    'provisional',
    'Complete to 30 Mar 2026',
    ['later days to 31 Mar 2026 are only partly here', '1 day is missing'],
  ],
  ['empty', { data_through: null }, 'bad', 'No day is complete yet', []],
] as const)('trust in data that is %s', (_, rows, level, verdict, notes) => {
  expect(trust(organisation(rows))).toEqual({ level, verdict, notes })
})
