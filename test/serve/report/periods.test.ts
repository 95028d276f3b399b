import { afterAll, beforeAll, expect, it } from 'vitest'
import { Database } from '../../../src/lib/duckdb.ts'
import { statement } from '../../../src/lib/package.ts'
import { RANGES } from '../../../src/serve/report/view.ts'

/** Two organisations, on each of 400 days: 10 credits, of which two of twelve people used one each; and 7 of no person. */
let database: Database
beforeAll(async () => {
  database = await Database.open(':memory:')
  await database.run(`create table days as
    select cast(day as date) as activity_date
    from range(date '2026-01-14', date '2026-01-14' + 400, interval 1 day) as days (day)`)
  await database.run(`create table chosen as
    select org_id, min(activity_date) as first_day, max(activity_date) as last_day
    from days, (values ('with people'), ('without')) as orgs (org_id) group by 1`)
  const ranges = JSON.stringify(RANGES.map(([days]) => days))
  await database.rows(statement('report/ranges'), { ranges })
  await database.run(statement('report/hides'))
  const rest = `1 as tool_calls, 1 as user_messages, 1 as sessions, 1 as files_created,
    1 as files_edited, 1 as git_commits, 1 as git_prs_created`
  await database.run(`create table user_days as
    select 'with people' as org_id, activity_date, user_id, team,
      credits as billable_tokens, ${rest}
    from days, (values ('u1', 'a', 1), ('u2', 'a', 0), ('u3', 'a', 0), ('u4', 'a', 0),
      ('u5', 'a', 0), ('u6', 'a', 0), ('v1', 'few', 1), ('w1', 'next', 0), ('w2', 'next', 0),
      ('w3', 'next', 0), ('w4', 'next', 0), ('w5', 'next', 0)) as people (user_id, team, credits)`)
  await database.run(`create table org_days as
    select org_id, activity_date, org_id = 'with people' as is_users_known, if(org_id = 'without', 7, 10) as billable_tokens, ${rest}
    from days, chosen`)
  await database.run(`insert into chosen
      select 'tools failed', first_day, last_day from chosen where org_id = 'without';
    insert into org_days
      select * replace (
        'tools failed' as org_id,
        if(date_diff('day', date '2026-01-14', activity_date) % 2 = 0, 6, null) as tool_calls
      ) from org_days where org_id = 'without'`)
})
afterAll(() => {
  database.close()
})

async function periods(where: string): Promise<unknown[]> {
  const rows = await database.rows(
    `select concat_ws(' ', days, period, coalesce(active_users::varchar, 'unknown'), billable_tokens) as text
    from (${statement('report/periods')}) where ${where}`,
  )
  return rows.map(({ text }) => text)
}

it('periods that begin before the history are left out', async () => {
  expect(await periods(`org_id = 'with people' and team is null`)).toEqual([
    '28 current 12 280.0',
    '28 previous 12 280.0',
    '28 year 12 280.0',
    '91 current 12 910.0',
    '91 previous 12 910.0',
    '182 current 12 1820.0',
    '182 previous 12 1820.0',
    '364 current 12 3640.0',
  ])
})

it('a team has the credits of its people', async () => {
  expect(await periods(`team = 'a' and days = 28`)).toEqual([
    '28 current 6 28.0',
    '28 previous 6 28.0',
    '28 year 6 28.0',
  ])
})

it('a team of which fewer than five people were active has no period, and the next larger one has none', async () => {
  expect(await periods(`team in ('few', 'next')`)).toEqual([])
})

it('tool calls and messages, whose ratio is shown, are those of the days on which both are known', async () => {
  const rows = await database.rows(`select tool_calls, user_messages
    from (${statement('report/periods')}) where org_id = 'tools failed' and days = 28`)
  const both = { tool_calls: 84, user_messages: 14 }
  expect(rows).toEqual([both, both, both])
})

it('an organisation whose people are unknown has totals', async () => {
  expect(await periods(`org_id = 'without' and days = 364`)).toEqual(['364 current unknown 2548.0'])
})
