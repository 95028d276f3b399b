import { expect, it } from 'vitest'
import { z } from 'zod'
import { Database } from '../../../src/lib/duckdb.ts'
import { statement } from '../../../src/lib/package.ts'
import { teamActivity } from '../../../src/serve/report/adoption.ts'
import { view } from './sample.ts'

/** Members of the teams that a report shows, of teams with so many people each who were active once. */
async function shown(
  sizes: Readonly<Record<string, number>>,
  residuals: readonly string[] = [],
): Promise<Record<string, unknown>> {
  await using database = await Database.open(':memory:')
  const names = Object.keys(sizes).map((name) => `'${name}'`)
  await database.run(`create table chosen as select 'a' as org_id, date '2026-03-31' as last_day;
    create table ranges as select 28 as days;
    create table teams as select unnest(map_entries(map(
      [${names.join()}], [${Object.values(sizes).join()}])), recursive := true);
    create table dim_user_history as
      select 'a' as org_id, 'user-' || key || n as user_id, nullif(key, '(no team)') as team,
        date '2026-01-01' as valid_from, null::date as valid_to
      from teams, range(1, value + 1) as numbers (n);
    create table fct_user_day as
      select org_id, user_id, date '2026-03-31' as activity_date, true as is_active,
        1 as billable_tokens, 1 as tool_calls, 1 as user_messages, 1 as sessions,
        1 as files_created, 1 as files_edited, 1 as git_commits, 1 as git_prs_created
      from dim_user_history
      union all select 'a', unnest([${residuals.map((name) => `'${name}'`).join()}]::text[]),
        date '2026-03-31', true, 1, 1, 1, 1, 1, 1, 1, 1`)
  await database.run(statement('report/hides'))
  await database.run(statement('report/user_days'))
  const rows = await database.rows(
    'select team, count(distinct user_id) as people from user_days group by 1 order by all',
  )
  return Object.fromEntries(
    rows.map(({ team, people }) => [z.string().parse(team), Number(people)]),
  )
}

function teams(count: number): Record<string, number> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, at) => [`t${String(at).padStart(2, '0')}`, 50 - at]),
  )
}

it('teams beyond the 30 largest are shown as one, and so are small teams', async () => {
  const members = await shown({ ...teams(34), few: 4, two: 2, '(no team)': 6 })
  const { t28, t29 } = members
  expect(Object.keys(members)).toHaveLength(32)
  expect({ t28, t29 }).toEqual({ t28: 22, t29: undefined })
  expect(members).toMatchObject({
    '(no team)': 6,
    '(5 other teams)': 21 + 20 + 19 + 18 + 17,
    '(small teams)': 6,
  })
})

it('one team alone is not shown as other teams', async () => {
  expect(await shown(teams(31))).toEqual(teams(31))
})

it('fewer than five people of small teams stand together with the smallest of the others', async () => {
  const { t30, ...others } = teams(31)
  expect(await shown({ ...teams(31), few: 4 })).toEqual({
    ...others,
    '(small teams)': 4 + (t30 ?? 0),
  })
  expect(await shown({ ...teams(31), few: 4, two: 2 })).toEqual({
    ...teams(31),
    '(small teams)': 6,
  })
})

it('use that belongs to no user is not counted as a person', async () => {
  const sizes = { a: 7, '(no team)': 4 }
  expect(await shown(sizes, ['(unattributed)'])).toEqual({ '(small teams)': 11 })
})

it('people without a team are people, not a team that has some', () => {
  const week = { week: '2026-03-23', team: '(no team)', active_users: 5 }
  expect(teamActivity.read(view({ team_weeks: [week] })).finding).toBe(
    '5 people without a team used agents in the week of 23 Mar 2026',
  )
})
