import { expect, it } from 'vitest'
import * as adoption from '../../../src/serve/report/adoption.ts'
import type { Chart } from '../../../src/serve/report/chart.ts'
import type { Organisation, Source } from '../../../src/serve/report/data.ts'
import * as oversight from '../../../src/serve/report/oversight.ts'
import * as practice from '../../../src/serve/report/practice.ts'
import * as spend from '../../../src/serve/report/spend.ts'
import { ratios, view } from './sample.ts'

const cohort = {
  ...{ cohort: '2026-03-16', week_number: 1, cohort_users: 10, active_users: 6 },
  ...{ retention: 0.6, is_left_edge: false },
}

const joined = {
  ...{ week: '2026-03-23', active_users: 9, new_users: 6, retained_users: 2 },
  ...{ resurrected_users: 1, churned_users: 2, is_left_edge: false },
}

const tool = { kind: 'tool' as const, days: 28, invocations: 50, share: 0.5, names: 1 }

const models = { week: '2026-03-23', place: 1 }

const output = {
  ...{ week: '2026-03-23', billable_tokens: 1, files: 1 },
  ...{ git_commits: null, git_prs_created: null },
}

function missing(source: Source) {
  return [{ day: '2026-03-30', source }]
}

it.each<[string, Pick<Chart, 'read'>, Partial<Organisation>, string]>([
  [
    'settings that were never loaded are not said to restrict nothing',
    oversight.policy,
    {},
    'It is not known what the settings allow',
  ],
  [
    'settings that restrict nothing are named',
    oversight.policy,
    { are_settings_known: true },
    'No setting restricts servers, models or autonomy, or all use follows the settings',
  ],
  [
    'settings that were never loaded are not said to name no address',
    oversight.allowedEmails,
    {},
    'It is not known which addresses may use computers',
  ],
  [
    'settings that were never loaded are not said to leave out no person',
    oversight.allowedPeople,
    {},
    'It is not known which addresses may use computers',
  ],
  [
    'settings that were never loaded are not said to keep sessions for ever',
    oversight.sessionRetention,
    {},
    'It is not known how long sessions are kept',
  ],
  [
    'a first week without messages is not compared',
    practice.autonomy,
    { autonomy_weeks: ratios(null, 5.5) },
    'Agents made 5.5 tool calls per message in the last whole week',
  ],
  [
    'a week without messages has no tool calls for each',
    practice.autonomy,
    { autonomy_weeks: ratios(4, null) },
    'Tool calls per message are not known for the last whole week',
  ],
  [
    'people are not counted up to a day whose users are not known',
    adoption.activeUsers,
    {
      active_days: [
        { day: '2026-03-30', daily: 3, weekly: 30, monthly: 40, stickiness: 0.5 },
        { day: '2026-03-31', daily: 3, weekly: null, monthly: null, stickiness: null },
      ],
    },
    'How many people were active in the last 7 days is not known',
  ],
  [
    'people are counted up to the last day of which they are known, which is named',
    adoption.activeUsers,
    {
      active_days: [
        { day: '2026-03-28', daily: 3, weekly: 30, monthly: 40, stickiness: 0.5 },
        { day: '2026-03-29', daily: 3, weekly: 37, monthly: 40, stickiness: 0.5 },
      ],
    },
    'Weekly active people rose from 30 to 37 in 4 weeks, to 29 Mar 2026',
  ],
  [
    'the title about days of use says how many days are missing',
    adoption.usageGroups,
    { usage_groups: [{ active_days: 12, users: 2 }], users_missing_28d: 1 },
    '2 of 2 known people worked with agents on 12 or more of 28 days (1 day is missing)',
  ],
  [
    'the title about unused licences says how many days are missing',
    adoption.seats,
    { seats: [{ status: 'idle', people: 2 }], users_missing_28d: 1 },
    '2 people with a licence did not use it in the last 28 days (1 day is missing)',
  ],
  [
    'the title about the running month says how many days are missing',
    spend.monthSpend,
    {
      month_days: [{ month: '2026-03', day_of_month: 31, billable_tokens: 110 }],
      unknown_days: [...missing('tokens'), { day: '2026-02-03', source: 'tokens' }],
    },
    'March 2026 stands at 110 credits (1 day is missing)',
  ],
  [
    'a month in which the history begins says so',
    spend.monthSpend,
    {
      first_day: '2026-03-05',
      month_days: [{ month: '2026-03', day_of_month: 31, billable_tokens: 110 }],
    },
    'March 2026 stands at 110 credits since 5 Mar 2026',
  ],
  [
    'output for credits leaves out what is not known',
    spend.efficiency,
    {
      output_weeks: [
        {
          week: '2026-03-23',
          git_commits: null,
          git_prs_created: 1,
          files: 8,
          billable_tokens: 4e6,
        },
      ],
    },
    'Each million credits came with 2 files in the last whole week',
  ],
  [
    'output for credits is not known without commits and files',
    spend.efficiency,
    {
      output_weeks: [
        {
          week: '2026-03-23',
          git_commits: null,
          git_prs_created: 1,
          files: null,
          billable_tokens: 4e6,
        },
      ],
    },
    'Commits and files per million credits are not known for the last whole week',
  ],
  [
    'credits of models that are not known are not none',
    spend.modelSpend,
    { model_weeks: [{ ...models, model: 'm', billable_tokens: null }] },
    'The credits of models are not known',
  ],
  [
    'credits that no model accounts for are credits',
    spend.modelSpend,
    { model_weeks: [{ ...models, model: '(unattributed)', billable_tokens: 500 }] },
    '500 credits are attributed to no model in 1 whole week',
  ],
  [
    'people who began in a week that is not over are not denied',
    adoption.retention,
    {},
    'No whole week of a cohort of five or more people of the last year is known',
  ],
  [
    'a cohort without a complete fourth week is not denied',
    adoption.retention,
    { retention_weeks: [cohort] },
    'No cohort shown has a complete fourth week yet',
  ],
  [
    'a period that begins before the history is not said to be covered',
    adoption.activeUsers,
    {
      first_day: '2026-03-30',
      active_days: [
        { day: '2026-03-30', daily: 3, weekly: 30, monthly: 40, stickiness: 0.5 },
        { day: '2026-03-31', daily: 3, weekly: 37, monthly: 40, stickiness: 0.5 },
      ],
    },
    'Weekly active people rose from 30 to 37 since 30 Mar 2026',
  ],
  [
    'people who are first seen in the first weeks of history did not join',
    adoption.lifecycle,
    { lifecycle_weeks: [{ ...joined, is_left_edge: true }] },
    'In the last whole week 9 people were active and 2 left; the history is too short to say who joined',
  ],
  [
    'a week that is not the last whole one is named',
    practice.clients,
    { client_weeks: [{ week: '2026-03-16', client: 'cli', daily_users: 4 }] },
    'cli is used by the most people: 4 a day on average in the week of 16 Mar 2026',
  ],
  [
    'the last week that is over is the last whole week',
    practice.clients,
    { client_weeks: [{ week: '2026-03-23', client: 'cli', daily_users: 4 }] },
    'cli is used by the most people: 4 a day on average in the last whole week',
  ],
  [
    'people who are first seen later joined',
    adoption.lifecycle,
    { lifecycle_weeks: [joined] },
    'In the last whole week 6 joined, 1 returned and 2 left',
  ],
  [
    'people at the left edge of history are no new people',
    adoption.retention,
    { retention_weeks: [{ ...cohort, week_number: 4, is_left_edge: true }] },
    'No cohort of five or more began after the first weeks of history',
  ],
  [
    'an organisation without licences is not said to use all of them',
    adoption.seats,
    { seats: [{ status: 'unlicensed', people: 3 }] },
    'No person has a licence in the seeds',
  ],
  [
    'a tool is named, not what stands for calls without a tool',
    practice.tools,
    {
      tools: [
        { ...tool, name: '(unattributed)' },
        { ...tool, name: 'Read', share: 0.29 },
      ],
    },
    'Read is the most used of 1 tool: 29% of calls',
  ],
  [
    'calls without the name of a tool are those of no tool',
    practice.tools,
    { tools: [{ ...tool, name: '(unparsed)', names: 0 }] },
    'No call has the name of a known tool',
  ],
  [
    'a period without a whole week does not deny the weeks before it',
    practice.output,
    { output_weeks: [{ ...output, week: '2026-02-02' }] },
    'No whole week with output is known in the period',
  ],
  [
    'a period without a whole week does not deny that people joined before it',
    adoption.lifecycle,
    { lifecycle_weeks: [{ ...joined, week: '2026-02-02' }] },
    'For no whole week of the period is it known who joined and who left',
  ],
  [
    'teams whose weeks are not known are not said to have few active people',
    adoption.teamActivity,
    {},
    'No whole week with five active people of a team is known in the period',
  ],
  [
    'teams whose people are not known are not said to be small',
    spend.teamSpend,
    {},
    'No team with five active people is known',
  ],
  [
    'commits that were not sent are not zero',
    practice.output,
    { output_weeks: [{ ...output, git_prs_created: 3 }] },
    'Agents made 3 pull requests in the week of 23 Mar 2026',
  ],
  [
    'output that was not sent is not zero',
    practice.output,
    { output_weeks: [output] },
    'Commits and pull requests of the week of 23 Mar 2026 are not known',
  ],
])('%s', (_, chart, rows, finding) => {
  expect(chart.read(view(rows)).finding).toBe(finding)
})

it('people without a licence are counted, active or not', () => {
  const seats = [{ status: 'unlicensed', people: 3 }]
  expect(adoption.seats.read(view({ seats })).rows).toEqual([
    { status: 'seen without a licence', people: 3 },
  ])
})

it('a team without a week of five active people says nothing about other teams', () => {
  const team_weeks = [{ week: '2026-03-23', team: 'web', active_users: 9 }]
  expect(adoption.teamActivity.read(view({ team_weeks }, { team: 'data' })).finding).toBe(
    'No whole week with five active people of data is known in the period',
  )
})
