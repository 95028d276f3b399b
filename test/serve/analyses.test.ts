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
