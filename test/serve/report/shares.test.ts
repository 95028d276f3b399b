import { describe, expect, it } from 'vitest'
import { Database } from '../../../src/lib/duckdb.ts'
import { statement } from '../../../src/lib/package.ts'
import type { Chart } from '../../../src/serve/report/chart.ts'
import type { Organisation } from '../../../src/serve/report/data.ts'
import * as practice from '../../../src/serve/report/practice.ts'
import * as oversight from '../../../src/serve/report/oversight.ts'
import * as spend from '../../../src/serve/report/spend.ts'
import { view } from './sample.ts'

/** The rows of a dataset of the report, of a mart with the rows of a list of values. */
async function rowsOf(dataset: string, mart: string, columns: string, values: string) {
  await using database = await Database.open(':memory:')
  await database.run(`create table chosen as
      select 'a' as org_id, date '2026-01-05' as first_day, date '2026-01-18' as last_day,
        date '2026-01-18' as data_through;
    create table whole_weeks as
      select 'a' as org_id, unnest([date '2026-01-05', date '2026-01-12']) as week_start_date;
    create table ranges as select 28 as days;
    create table org_days as
      select 'a' as org_id, unnest([date '2026-01-05', date '2026-01-06']) as activity_date,
        1 as daily_active_users, false as is_activity_empty;
    create table fct_mcp_server_day (
      org_id text, activity_date date, mcp_server text, invocations bigint);
    create table dim_mcp_server (org_id text, mcp_server text, display_name text);
    create table ${mart} as select 'a' as org_id, * from (values ${values}) as given (${columns})`)
  return (await database.table(statement(`report/${dataset}`))).rows
}

describe('numbers that contradict each other have no share of a whole', () => {
  it('a week with a day of more tokens from the cache than input tokens', async () => {
    const columns =
      'activity_date, input_tokens, cache_read_tokens, cache_write_tokens, cache_read_share'
    const rows = await rowsOf(
      'cache_weeks',
      'mart_cache_day',
      columns,
      `(date '2026-01-05', 10, 30, 0, 3.0e0), (date '2026-01-06', 90, 9, 0, 0.1e0),
        (date '2026-01-12', 10, 5, 0, 0.5e0)`,
    )
    expect(rows).toEqual([
      ['a', '2026-01-05', null],
      ['a', '2026-01-12', 0.5],
    ])
  })

  it('a week whose levels of autonomy add up to more than all tool calls', async () => {
    const columns = 'week_start_date, autonomy_level, share'
    const rows = await rowsOf(
      'autonomy_levels',
      'mart_autonomy_level_week',
      columns,
      `(date '2026-01-05', 'high', 0.7e0), (date '2026-01-05', 'low', 0.4e0),
        (date '2026-01-12', 'high', 0.667e0), (date '2026-01-12', 'low', 0.334e0)`,
    )
    expect(rows).toEqual([
      ['a', '2026-01-05', 'high', null],
      ['a', '2026-01-05', 'low', null],
      ['a', '2026-01-12', 'high', 0.667],
      ['a', '2026-01-12', 'low', 0.334],
    ])
  })

  it('a report of readiness with a criterion that passes more often than it was evaluated', async () => {
    const columns = 'report_date, repo_url, passing, evaluated'
    const rows = await rowsOf(
      'readiness',
      'mart_readiness_trend',
      columns,
      `(date '2026-01-05', 'https://x/a', 3, 1), (date '2026-01-05', 'https://x/a', 0, 5),
        (date '2026-01-05', 'https://x/b', 1, 4), (date '2026-01-05', 'https://x/b', null, null)`,
    )
    expect(rows.map(([, , repository, , , share]) => [repository, share])).toEqual([
      ['x/a', null],
      ['x/b', 0.25],
    ])
  })

  it('a day with more people on its days than in its month', async () => {
    const columns =
      'activity_date, daily_active_users, weekly_active_users, monthly_active_users, stickiness_30d'
    const rows = await rowsOf(
      'active_days',
      'mart_active_users',
      columns,
      `(date '2026-01-05', 9, 9, 6, 1.5e0), (date '2026-01-06', 3, 6, 6, 0.5e0)`,
    )
    expect(rows.map((row) => row.at(-1))).toEqual([null, 0.5])
  })

  it('tools, where one has calls below zero', async () => {
    const columns = 'activity_date, tool_name, invocations'
    const one = await rowsOf(
      'tools',
      'fct_tool_day',
      columns,
      `(date '2026-01-05', 'Read', 9), (date '2026-01-05', 'Edit', -3)`,
    )
    expect(one.map((row) => [row[3], row[5]])).toEqual([
      ['Read', null],
      ['Edit', null],
    ])
  })

  it('a month in which a person has credits below zero has no curve of concentration', async () => {
    const curve = (month: string, lastButOne: number): string[] =>
      Array.from({ length: 10 }, (_, at) => {
        const share = at === 9 ? 1 : at === 8 ? lastButOne : (at + 1) / 10
        return `(date '${month}', ${at + 1}, 10, ${share}e0)`
      })
    const rows = await rowsOf(
      'concentration',
      'mart_spend_pareto',
      'month_start_date, user_rank, user_count, cumulative_share',
      [...curve('2026-01-01', 0.95), ...curve('2025-12-01', 1.2)].join(),
    )
    expect(rows).toEqual([
      ['a', '2026-01', 0.5, 0.5],
      ['a', '2026-01', 1, 1],
    ])
  })
})

it('a tool without a known call is none of the used tools', async () => {
  const rows = await rowsOf(
    'tools',
    'fct_tool_day',
    'activity_date, tool_name, invocations',
    `(date '2026-01-05', 'Read', 9), (date '2026-01-05', 'Edit', 0), (date '2026-01-05', 'Grep', null)`,
  )
  expect(rows.map((row) => [row[3], Number(row.at(-1))])).toEqual([['Read', 1]])
})

it('what stands for calls without a tool is not counted as a tool', async () => {
  const rows = await rowsOf(
    'tools',
    'fct_tool_day',
    'activity_date, tool_name, invocations',
    `(date '2026-01-05', 'Read', 9), (date '2026-01-05', '(unparsed)', 3)`,
  )
  expect(rows.map((row) => [row[3], Number(row.at(-1))])).toEqual([
    ['Read', 1],
    ['(unparsed)', 1],
  ])
})

const period = {
  ...{ days: 91, period: 'current' as const, active_users: 9, sessions: 1, tool_calls: 1 },
  ...{ user_messages: 1, files: 1, git_commits: 1, git_prs_created: 1 },
}
const report = { day: '2026-03-30', passing: 3, evaluated: 4, pass_rate: 0.75 }

it.each<[string, Pick<Chart, 'read'>, Partial<Organisation>, string]>([
  [
    'a team has credits instead of a share, where teams have more than the whole',
    spend.teamSpend,
    {
      periods: [
        { ...period, team: null, billable_tokens: 100 },
        { ...period, team: 'a', billable_tokens: 70 },
        { ...period, team: 'b', billable_tokens: 50 },
      ],
    },
    'Team a used 70 credits in 13 weeks',
  ],
  [
    'a team has credits instead of a share, where the whole is not known',
    spend.teamSpend,
    { periods: [{ ...period, team: 'a', billable_tokens: 70 }] },
    'Team a used 70 credits in 13 weeks',
  ],
  [
    'teams that are the whole have 100 %, though doubles do not add up to it',
    spend.teamSpend,
    {
      periods: [
        { ...period, team: null, billable_tokens: 0.3 },
        { ...period, team: 'a', billable_tokens: 0.1 },
        { ...period, team: 'b', billable_tokens: 0.2 },
      ],
    },
    'Team b used 67% of the credits in 13 weeks',
  ],
  [
    'a model has credits instead of a share, where another has credits below zero',
    spend.modelSpend,
    {
      model_weeks: [
        { week: '2026-03-23', model: 'large', place: 1, billable_tokens: 50 },
        { week: '2026-03-23', model: 'middle', place: 2, billable_tokens: 30 },
        { week: '2026-03-23', model: 'small', place: 3, billable_tokens: -20 },
      ],
    },
    'large took 50 credits in 1 whole week',
  ],
  [
    'a week without a share of the cache is not compared',
    spend.cache,
    {
      cache_weeks: [
        { week: '2026-03-16', share: 0.5 },
        { week: '2026-03-23', share: null },
      ],
    },
    'The tokens of the cache contradict the input tokens in the last whole week',
  ],
  [
    'the share of the cache is not compared with a week without one',
    spend.cache,
    {
      cache_weeks: [
        { week: '2026-03-16', share: null },
        { week: '2026-03-23', share: 0.5 },
      ],
    },
    '50% of input tokens were read from the cache in the last whole week',
  ],
  [
    'a week without shares of autonomy names no level',
    practice.autonomyLevels,
    { autonomy_levels: [{ week: '2026-03-23', level: 'high', share: null }] },
    'No share of a level of autonomy is known for the last whole week',
  ],
  [
    'a tool without a share is still named',
    practice.tools,
    {
      tools: [{ kind: 'tool', days: 91, name: 'Read', invocations: 29, share: null, names: 2 }],
    },
    'Read is the most used of 2 tools',
  ],
  [
    'a repository whose numbers contradict each other does not count in the share',
    practice.readiness,
    {
      readiness: [
        { ...report, repository: 'x/a' },
        { ...report, repository: 'x/b', passing: 9, pass_rate: null },
      ],
    },
    '75% of criteria pass in the newest reports of 1 repository; the numbers of 1 repository contradict each other',
  ],
  [
    'readiness has no share, where all numbers contradict each other',
    practice.readiness,
    { readiness: [{ ...report, repository: 'x/b', passing: 9, pass_rate: null }] },
    'The numbers of 1 repository contradict each other',
  ],
  [
    'more recorded hook events than runs are a truth, and said in numbers',
    oversight.hookRecording,
    {
      hook_recording: [
        {
          ...{ days: 91, hook_event: 'Stop', runs: 40, recording_runs: 20 },
          ...{ recorded: 21, recorded_share: 1.05 },
        },
      ],
    },
    '21 hook events are recorded in 13 weeks, more than the 20 runs of the recording hook that the platform counted',
  ],
])('%s', (_, chart, rows, finding) => {
  expect(chart.read(view({ first_day: '2025-12-01', ...rows }, { days: 91 })).finding).toBe(finding)
})
