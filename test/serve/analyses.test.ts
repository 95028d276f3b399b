import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Database } from '../../src/lib/duckdb.ts'
import { ExitCode } from '../../src/lib/errors.ts'
import { packageRoot, statement } from '../../src/lib/package.ts'
import { listAnalyses } from '../../src/serve/query.ts'
import { command } from '../support/command.ts'

const all = listAnalyses()

/** The marts that a statement reads, in their order in it. */
function tablesOf(sql: string): string[] {
  return [...new Set([...sql.matchAll(/\bmain\.(\w+)/g)].map(([, table = '']) => table))]
}

function page(): string {
  const rows = all.map(({ name, question, notes, sql }) => {
    const tables = tablesOf(sql).map((table) => `\`${table}\``)
    return `## ${question}\n\n\`agent-warehouse query --analysis ${name}\`\n\n${notes}\n\nReads ${tables.join(', ')}.\n`
  })
  return [
    '<!-- Written by `npm run docs:questions` from sql/analyses. -->',
    '',
    '# Ready-made questions',
    '',
    'Each question is answered by one SELECT statement on the marts, in `sql/analyses`. Run it as it is, or use it as a starting point for your own. `agent-warehouse query --list` lists the questions; `--format csv` and `json` are for programs. If the warehouse has several organisations, each line of an answer names its organisation.',
    '',
    ...rows,
  ].join('\n')
}

describe('the analyses', () => {
  it.each(all.map((each) => [each.name, each] as const))(
    '%s begins with its question and says how it counts',
    (_, { question, notes, sql }) => {
      expect(question).toMatch(/^[A-Z].{10,}\?$/)
      expect(notes).toMatch(/^[A-Z].*\.$/)
      const statement = sql.replaceAll(/^--.*$/gm, '')
      expect(statement).not.toContain(';')
      expect(statement).not.toMatch(/\bon\b(?:(?!\b(?:where|group)\b).)*\bor\b/s)
      expect(sql.split('\n').filter((line) => line.length > 80)).toEqual([])
    },
  )

  it('have different questions', () => {
    expect(new Set(all.map(({ question }) => question)).size).toBe(all.length)
    expect(all.length).toBeGreaterThan(25)
  })

  it('are in docs/questions.md (written by `npm run docs:questions`)', async () => {
    await expect(page()).toMatchFileSnapshot(join(packageRoot, 'docs', 'questions.md'))
  })
})

describe('the last 28 days of an analysis', () => {
  it.each([
    ['mcp_servers_last_28_days', ['a', 'GitHub', '5', '2', '1']],
    ['hooks_used', ['a', 'Stop', null, 'run', '5', '2']],
    ['hook_recording', ['a', 'Stop', '5', '5', '4', '0.8']],
  ])(
    '%s: end with the last complete day, and days without a call are no days of use',
    async (name, row) => {
      await using database = await Database.open(':memory:')
      await database.run(`create table mart_data_health as
          from (values ('a', date '2026-03-31'), ('b', date '2026-03-31')) as t (org_id, data_through);
        create table days as from (values
          ('a', date '2026-03-03', 9), ('a', date '2026-03-04', 2), ('a', date '2026-03-20', 0),
          ('a', date '2026-03-31', 3), ('a', date '2026-04-01', 7), ('b', date '2026-01-20', 8)
        ) as t (org_id, activity_date, invocations);
        create table fct_mcp_server_day as select *, 'github' as mcp_server from days;
        create table dim_mcp_server as
          select distinct org_id, 'github' as mcp_server, 'GitHub' as display_name,
            1 as spelling_count from days;
        create table fct_hook_day as
          select *, 'Stop' as hook_event, null as matcher, 'run' as command from days;
        create table mart_hook_recording as
          select org_id, activity_date, 'Stop' as hook_event, invocations as platform_invocations,
            invocations as recorder_invocations, least(invocations, 2) as recorded_events
          from days`)
      const { rows } = await database.table(statement(`analyses/${name}`))
      expect(
        rows.map((each) => each.map((cell) => (typeof cell === 'object' ? cell : String(cell)))),
      ).toEqual([row])
    },
  )
})

it('active_users_by_week: use that belongs to no user counts, but is no user', async () => {
  await using database = await Database.open(':memory:')
  await database.run(`create table dim_date as select 'a' as org_id, date '2026-03-02' as activity_date,
      date '2026-03-02' as week_start_date, 2026 as iso_year, 10 as iso_week;
    create table fct_user_day as from (values
      ('a', date '2026-03-02', 'u1', true, 3, 1), ('a', date '2026-03-02', 'u2', false, 0, 0),
      ('a', date '2026-03-02', '(unattributed)', true, 4, 2)
    ) as t (org_id, activity_date, user_id, is_active, sessions, git_commits)`)
  const { rows } = await database.table(statement('analyses/active_users_by_week'))
  expect(rows.map((row) => row.map(String))).toEqual([['a', '2026', '10', '1', '7', '3']])
})

it('cache_share: a complete week has the days with all numbers, also without rows on other days', async () => {
  await using database = await Database.open(':memory:')
  await database.run(`create table dim_date as
      select 'a' as org_id, cast(day as date) as activity_date,
        cast(date_trunc('week', day) as date) as week_start_date
      from range(date '2026-03-02', date '2026-03-20', interval 1 day) as days (day);
    create table mart_output_week as from (values
      ('a', date '2026-03-02', true), ('a', date '2026-03-09', true), ('a', date '2026-03-16', false)
    ) as t (org_id, week_start_date, is_complete_week);
    create table mart_cache_day as
      select *, cache_read_tokens > input_tokens as is_read_beyond_input,
        cache_read_tokens / (input_tokens + cache_read_tokens + cache_write_tokens)
          as cache_read_share
      from (values
        ('a', date '2026-03-02', 1, 2, 1), ('a', date '2026-03-03', 2, 1, 1),
        ('a', date '2026-03-04', 90, null, 0),
        ('a', date '2026-03-09', 5, null, null),
        ('a', date '2026-03-16', 1, 1, 1)
      ) as t (org_id, activity_date, input_tokens, cache_read_tokens, cache_write_tokens)`)
  const { rows } = await database.table(statement('analyses/cache_share'))
  expect(rows.map((row) => row.map(String))).toEqual([['a', '2026-03-02', '0.375', '0.6', '1']])
})

it('proposed_limits: users with one address count together in an organisation', async () => {
  await using database = await Database.open(':memory:')
  const month = `date '2026-03-01'`
  await database.run(`create table mart_limit_usage as from (values
      ('a', ${month}, 'u1', 31, 2e6, 2e6), ('a', ${month}, 'u2', 31, 2e6, 2e6),
      ('a', date '2026-02-01', 'u1', 28, 3e6, 3e6), ('b', ${month}, 'u1', 31, 3e6, 3e6)
    ) as t (org_id, month_start_date, user_id, known_days, billable_tokens, forecast_billable_tokens);
    create table dim_user as from (values
      ('a', 'u1', 'Ann@x.example'), ('a', 'u2', 'ann@x.example'), ('b', 'u1', 'ann@x.example')
    ) as t (org_id, user_id, user_email)`)
  const { rows } = await database.table(statement('analyses/proposed_limits'))
  expect(rows.map((row) => row.map(String))).toEqual([['ann@x.example', '6000000']])
})

it.each([
  ['active_users_by_team', 8],
  ['cache_share', 8],
  ['autonomy_by_team', 4],
  ['output_per_credit', 4],
])(
  '%s: has the last %i complete weeks, also if a week between them is not',
  async (name, weeks) => {
    await using database = await Database.open(':memory:')
    await database.run(`create table mart_team_week as
      select 'a' as org_id, 'Red' as team, 5 as active_users, cast(week as date) as week_start_date,
        week <> date '2026-03-23' as is_complete_week, false as is_suppressed,
        1 as tool_calls, 1 as user_messages, 1 as billable_tokens, 1 as git_commits,
        1 as git_prs_created, 1 as files_edited
      from range(date '2026-01-05', date '2026-04-07', interval 7 days) as weeks (week);
    create view mart_efficiency_week as from mart_team_week;
    create view mart_output_week as from mart_team_week;
    create view dim_date as select org_id, week_start_date, week_start_date as activity_date
      from mart_team_week;
    create view mart_cache_day as select org_id, activity_date, 1 as input_tokens,
      1 as cache_read_tokens, 0 as cache_write_tokens, 0.5 as cache_read_share,
      false as is_read_beyond_input from dim_date`)
    const sql = statement(`analyses/${name}`)
    const [row, ...others] = await database.rows(sql)
    const counted = row?.['weeks'] ?? row?.['tool_calls'] ?? others.length + 1
    expect(Number(counted)).toBe(weeks)
  },
)

describe('query', () => {
  it('--list prints each name and question, in every format and without a warehouse', async () => {
    const { code, out, err } = await command(['query', '--list', '--json'])
    expect([code, err]).toEqual([0, ''])
    expect(JSON.parse(out)).toEqual(all.map(({ name, question }) => ({ name, question })))
    const csv = await command(['query', '--list', '--format', 'csv'])
    expect(csv.out.split('\n')[0]).toBe('name,question')
  })

  it.each([
    [
      ['--analysis', 'spend_by_taem'],
      "there is no ready-made question 'spend_by_taem'",
      "Did you mean 'spend_by_team'? `agent-warehouse query --list` lists them.",
    ],
    [
      ['--analysis', '../base/users'],
      "there is no ready-made question '../base/users'",
      '`agent-warehouse query --list` lists them.',
    ],
    [
      ['select 1', '--analysis', 'spend_by_team'],
      'arguments: more than one is given',
      'One of: a statement in quotes, --analysis <name>, --list.',
    ],
    [
      ['--list', '--analysis', 'spend_by_team'],
      'arguments: more than one is given',
      'One of: a statement in quotes, --analysis <name>, --list.',
    ],
    [
      [],
      'arguments: 0 given, at least 1 needed',
      'One of: a statement in quotes, --analysis <name>, --list.',
    ],
  ])('%j is a usage error', async (args, message, hint) => {
    const { code, out, err } = await command(['query', ...args])
    expect({ code, out }).toEqual({ code: ExitCode.usage, out: '' })
    expect(err).toBe(`agent-warehouse: ${message}\n  ${hint}\n`)
  })
})
