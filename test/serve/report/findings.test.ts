import { expect, it } from 'vitest'
import * as adoption from '../../../src/serve/report/adoption.ts'
import * as budget from '../../../src/serve/report/budget.ts'
import type { Chart } from '../../../src/serve/report/chart.ts'
import type { Organisation } from '../../../src/serve/report/data.ts'
import * as oversight from '../../../src/serve/report/oversight.ts'
import * as practice from '../../../src/serve/report/practice.ts'
import * as spend from '../../../src/serve/report/spend.ts'
import { ratios, view } from './sample.ts'

function month(name: string, credits: readonly number[]) {
  return credits.map((billable_tokens, at) => {
    return { month: name, day_of_month: at + 1, billable_tokens }
  })
}

const forecast = {
  ...{ month: '2026-03', day: '2026-03-20', days_left: 11, month_to_date: 60 },
  ...{ p10: 80, p50: 90, p90: 120, credit_limit: null, exhaustion_day: null },
  missing_days: 0,
}

const past = { month: '2026-02', error: 0.1, last_month_error: null, straight_line_error: null }

const component = {
  ...{ month: '2026-02', previous_month: '2026-01', compared_days: 28 },
  ...{ users: 9, billable_tokens: 220, previous_billable_tokens: 200 },
}

const flag = {
  ...{ day: '2026-03-30', is_above: true },
  ...{ billable_tokens: null, usual_low: null, usual_high: null },
}

const rule = {
  ...{ policy: 'models', forbidden_use_days: 3, forbidden_amount: 9, since: '2026-01-01' },
  ...{ last_forbidden_use: '2026-03-30', changed_by: null, status: 'not_allowed' as const },
}

const list = {
  ...{ allow_list: 'managed_computers', listed: 4, listed_active: 4, listed_idle: 0 },
  ...{ listed_never: 0, not_listed: 0, other_domain: 0 },
}

const kept = {
  ...{ days_kept: 90, since: '2026-03-01', until: null, fetched: 16, oldest_days: 99 },
  ...{ past: 3, changed_by: null },
}

const team = {
  ...{ days: 91, period: 'current' as const, active_users: 9, sessions: 1, tool_calls: 1 },
  ...{ user_messages: 1, files: 1, git_commits: 1, git_prs_created: 1 },
}

function person(at: number) {
  const email = `p${at}@x.example`
  return { allow_list: 'managed_computers', email, is_domain_listed: true, active_days: 1 }
}

const hooks = { days: 91, hook_event: 'Stop', runs: 40, recording_runs: 20, recorded: 15 }

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
        { day: '2026-03-30', daily: 3, weekly: 30, monthly: 40, stickiness: 0.5 },
        { day: '2026-03-31', daily: 3, weekly: 37, monthly: 40, stickiness: 0.5 },
      ],
    },
    'Weekly active people rose from 30 to 37 in 13 weeks',
  ],
  [
    'days before the period are not compared',
    adoption.activeUsers,
    {
      active_days: [
        { day: '2025-03-30', daily: 3, weekly: 1, monthly: 40, stickiness: 0.5 },
        { day: '2026-03-31', daily: 3, weekly: 37, monthly: 40, stickiness: 0.5 },
      ],
    },
    '37 people were active in the last 7 days',
  ],
  [
    'a running month is compared on the days that are known in both months',
    spend.monthSpend,
    {
      month_days: [...month('2026-02', [100, 900]), ...month('2026-03', [110, 210])],
      compared_month: [{ ...component, month: '2026-03', previous_month: '2026-02' }],
    },
    'March 2026 stands at 210 credits, up 10% on the same 28 days of February 2026',
  ],
  [
    'a limit that people will pass if they go on like this stands in the title',
    spend.monthSpend,
    {
      month_days: month('2026-03', [110]),
      limits: [{ month: '2026-03', users_past: 0, users_over: 1 }],
    },
    'March 2026 stands at 110 credits; at this rate 1 person will pass a limit',
  ],
  [
    'a forecast has its band and its share of the limits',
    budget.forecast,
    { forecast_days: [{ ...forecast, credit_limit: 180 }] },
    'March 2026 is heading for about 90 credits (80 to 120), 50% of the limits of 180',
  ],
  [
    'limits that will be used up are named with the day',
    budget.forecast,
    { forecast_days: [{ ...forecast, credit_limit: 85, exhaustion_day: '2026-03-29' }] },
    'March 2026 is heading for about 90 credits (80 to 120); the limits of 85 will be used up on 29 Mar 2026',
  ],
  [
    'too little history makes no forecast',
    budget.forecast,
    { forecast_days: [{ ...forecast, p10: null, p50: null, p90: null }] },
    'There is too little history for a forecast of March 2026',
  ],
  [
    'a month says how many of its days are missing',
    budget.forecast,
    { forecast_days: [{ ...forecast, days_left: 0, missing_days: 3 }] },
    'March 2026 came to 60 credits (3 days are missing)',
  ],
  [
    'a whole month needs no forecast; limits that were used up are past',
    budget.forecast,
    {
      forecast_days: [
        { ...forecast, days_left: 0, credit_limit: 55, exhaustion_day: '2026-03-20' },
      ],
    },
    'March 2026 came to 60 credits; the limits of 55 were used up on 20 Mar 2026',
  ],
  [
    'errors of months weigh by their forecasts',
    budget.forecastErrors,
    {
      forecast_months: [
        { ...past, forecasts: 10, within_band: 10 },
        { ...past, month: '2026-03', forecasts: 30, error: 0.3, within_band: 20 },
      ],
    },
    'Forecasts of past months were off by 25% on average; the month ended in their band on 75% of days',
  ],
  [
    'a bridge names the largest steps, whichever way they go',
    budget.bridge,
    {
      bridge: [
        { ...component, components: 'joined_users', change: 10 },
        { ...component, components: 'volume', change: 50 },
        { ...component, components: 'model_mix', change: -40 },
        { ...component, components: 'rate', change: 0 },
      ],
    },
    'In February 2026 credits were up 10% on the same 28 days of January 2026: volume of use +50, choice of models −40',
  ],
  [
    'a step of few people is named with the one that it is shown in',
    budget.bridge,
    { bridge: [{ ...component, components: 'joined_users,volume', change: 20 }] },
    'In February 2026 credits were up 10% on the same 28 days of January 2026: people who joined and volume of use +20',
  ],
  [
    'a concentrated month is named by the share of people nearest to a tenth',
    spend.concentration,
    {
      concentration: [
        { month: '2026-02', share_of_users: 0.1, share_of_credits: 0.9 },
        { month: '2026-03', share_of_users: 0.2, share_of_credits: 0.6 },
        { month: '2026-03', share_of_users: 1, share_of_credits: 1 },
      ],
    },
    '20% of the people used 60% of the credits of March 2026',
  ],
  [
    'an unusual day of the organisation has its credits, those of people are counted',
    oversight.anomalies,
    {
      anomaly_days: [
        { ...flag, scope: 'org', flags: 1, billable_tokens: 900, usual_low: 80, usual_high: 120 },
        { ...flag, scope: 'user', flags: 2 },
        { ...flag, scope: 'user', flags: 1, is_above: false },
      ],
    },
    'The organisation used 900 credits on 30 Mar 2026, where 80 to 120 are usual; 3 days of people are far from usual (last on 30 Mar 2026)',
  ],
  [
    'without unusual days the title says so',
    oversight.anomalies,
    {},
    'No day of the last 28 is far from usual',
  ],
  [
    'days without history are not called usual',
    oversight.anomalies,
    { first_day: '2026-03-05' },
    'There is too little history to say which days are unusual',
  ],
  [
    'what is not allowed is counted where it was used in the period',
    oversight.policy,
    {
      policy: [
        { ...rule, value: 'a' },
        { ...rule, value: 'b', policy: 'mcp_servers' },
        { ...rule, value: 'c', last_forbidden_use: '2025-03-30' },
        { ...rule, value: 'd', status: 'allowed_since' },
        { ...rule, value: 'e', status: 'unused', forbidden_use_days: 0, last_forbidden_use: null },
      ],
    },
    '1 MCP server and 2 models were used in 13 weeks without being allowed; 1 model is allowed and was never used',
  ],
  [
    'active people off a list are counted by list',
    oversight.allowedEmails,
    {
      allowed_emails: [
        { ...list, not_listed: 27 },
        { ...list, allow_list: 'byom_computers', not_listed: 1, listed_never: 1 },
      ],
    },
    '27 active people are not on the list of managed computers, 1 active person is not on the list of users’ own computers',
  ],
  [
    'addresses that are not in use are named where all active people are listed',
    oversight.allowedEmails,
    { allowed_emails: [{ ...list, listed_never: 1, listed_idle: 1 }] },
    '2 listed addresses are not in use',
  ],
  [
    'lists without a gap say so',
    oversight.allowedEmails,
    { allowed_emails: [list] },
    'All active people are on the lists, and all listed are active',
  ],
  [
    'without lists the title says so',
    oversight.allowedEmails,
    { are_settings_known: true },
    'No setting names the addresses that may use computers',
  ],
  [
    'sessions past their retention are counted',
    oversight.sessionRetention,
    { session_retention: [kept, { ...kept, days_kept: 30, until: '2026-03-01' }] },
    'Sessions are kept for 90 days; 3 of 16 fetched were older',
  ],
  [
    'a new retention has no sessions yet',
    oversight.sessionRetention,
    { session_retention: [{ ...kept, fetched: 0, oldest_days: null, past: 0 }] },
    'Sessions are kept for 90 days; none has been fetched since 1 Mar 2026',
  ],
  [
    'a retention that was taken away is not the latest one',
    oversight.sessionRetention,
    { session_retention: [{ ...kept, days_kept: null, past: null }, kept] },
    'Since 1 Mar 2026 no setting says how long sessions are kept',
  ],
  [
    'settings without a retention have no table',
    oversight.sessionRetention,
    {
      are_settings_known: true,
      session_retention: [{ ...kept, days_kept: null, past: null }],
    },
    'No setting says how long sessions are kept',
  ],
  [
    'recorded events are a share of the runs of the recording hook in the period',
    oversight.hookRecording,
    {
      hook_recording: [
        { ...hooks, recorded_share: 0.75 },
        { ...hooks, days: 28, recorded: 1, recorded_share: 0.05 },
      ],
    },
    '15 hook events are recorded in 13 weeks: 75% of the runs of the recording hook',
  ],
  [
    'events that the platform does not count are still recorded',
    oversight.hookRecording,
    { hook_recording: [{ ...hooks, recording_runs: 0, recorded: 1, recorded_share: null }] },
    '1 hook event is recorded in 13 weeks; the platform counted no run of the recording hook',
  ],
  [
    'hooks without a recording are one line',
    oversight.hookRecording,
    { hook_recording: [{ ...hooks, recording_runs: 0, recorded: 0, recorded_share: null }] },
    'Hooks ran 40 times in 13 weeks; none of them is recorded',
  ],
  ['without hooks the title says so', oversight.hookRecording, {}, 'No hook ran in 13 weeks'],
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
    'the share of the cache is that of the newest week',
    spend.cache,
    {
      cache_weeks: [
        { week: '2026-03-16', share: 0.5 },
        { week: '2026-03-23', share: 0.72 },
      ],
    },
    '72% of input tokens were read from the cache in the last whole week; 50% at the start of the period',
  ],
  [
    'tool calls per message are compared at both ends of the period',
    practice.autonomy,
    { autonomy_weeks: ratios(4, 5.5) },
    'Agents made 5.5 tool calls per message in the last whole week; 4 at the start of the period',
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
  [
    'a model is named, not what stands for others',
    spend.modelSpend,
    {
      model_weeks: [
        { week: '2026-03-16', model: 'm1', place: 1, billable_tokens: 30 },
        { week: '2026-03-23', model: '(33 other models)', place: 8, billable_tokens: 70 },
      ],
    },
    'm1 took 30% of the credits in 2 whole weeks',
  ],
  [
    'a team is named, not what stands for others',
    spend.teamSpend,
    {
      periods: [
        { ...team, team: null, billable_tokens: 100 },
        { ...team, team: '(9 other teams)', billable_tokens: 70 },
        { ...team, team: 'a', billable_tokens: 20 },
      ],
    },
    'Team a used 20% of the credits in 13 weeks',
  ],
  [
    'more people than are listed are not on a list',
    oversight.allowedPeople,
    { allowed_people: Array.from({ length: 100 }, (_, at) => person(at)) },
    'At least 100 active people are not on a list of allowed addresses',
  ],
  [
    'an empty chart says what is not known',
    practice.servers,
    {},
    'No call of an MCP server is known',
  ],
  [
    'a served name cannot turn the direction of the title',
    practice.servers,
    {
      tools: [{ kind: 'server', days: 91, name: 'a\u202eb', invocations: 9, share: 1, names: 1 }],
    },
    'a b is the most used of 1 MCP server: 100% of calls',
  ],
])('%s', (_, chart, rows, finding) => {
  expect(chart.read(view({ first_day: '2025-12-01', ...rows }, { days: 91 })).finding).toBe(finding)
})

it('the steps of a bridge lead from one month to the next', () => {
  const bridge = [
    { ...component, components: 'left_users', change: -30 },
    { ...component, components: '(unattributed)', change: 50, users: null },
  ]
  expect(budget.bridge.read(view({ bridge })).rows).toEqual([
    { step: 'January 2026', change: null, total: 200, users: null },
    { step: 'People who left', change: -30, total: 170, users: 9 },
    { step: 'Not attributed', change: 50, total: 220, users: null },
    { step: 'February 2026', change: null, total: 220, users: null },
  ])
})
