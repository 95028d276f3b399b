import { afterAll, beforeAll, expect, it } from 'vitest'
import { Database } from '../../../src/lib/duckdb.ts'
import { statement } from '../../../src/lib/package.ts'

/**
 * An organisation with use in the week of 2 March, none in the two weeks after it, and no response
 * about 18 March and about the tools of 17 March. Another one was never used.
 */
let database: Database
beforeAll(async () => {
  database = await Database.open(':memory:')
  await database.run(`create schema meta;
    create table meta.intervals as
      select
        org_id,
        resource,
        cast(day as date) as activity_date,
        case
          when org_id = 'unused' then 'empty'
          when day = '2026-03-18' then 'missing'
          when day = '2026-03-17' and resource = 'tools' then 'failed'
          when day < '2026-03-09' and resource <> 'users' then 'landed'
          else 'empty'
        end as status
      from range(timestamp '2026-03-02', timestamp '2026-03-23', interval 1 day) as days (day),
        (values ('quiet'), ('unused')) as orgs (org_id),
        (values ('activity'), ('productivity'), ('tokens'), ('tools'), ('users')) as resources (resource)
      union all values ('quiet', 'sessions', date '2026-03-23', 'landed');
    create table fct_org_day as
      select org_id, activity_date, 4 as daily_active_users, 5 as weekly_active_users,
        6 as monthly_active_users, 1 as sessions, 1 as user_messages, 1 as tool_calls,
        10 as billable_tokens, 1 as files_created, 1 as files_edited, 1 as git_commits,
        null::integer as git_prs_created
      from meta.intervals where resource = 'tokens' and status = 'landed';
    create table fct_client_day as
      select 'quiet' as org_id, *
      from (values
        (date '2026-03-02', 'cli', 14), (date '2026-03-03', 'cli', 7), (date '2026-03-02', 'web', 1),
        (date '2026-03-03', 'web', null), (date '2026-03-09', 'app', 7)
      ) as t (activity_date, client, daily_active_users);
    create table mart_active_users as select *, 0.5 as stickiness_30d from fct_org_day;
    create table mart_user_28d (org_id varchar, as_of_date date);
    create table user_days as
      select 'quiet' as org_id, activity_date, 'u' as user_id, 't' as team, * exclude (org_id, activity_date)
      from fct_org_day where false;
    create table mart_data_health as
      select *, date '2026-03-17' as data_through, date '2026-03-17' as last_day, 0 as missing_days, 0 as failed_days,
        0 as residual_checks_failed, 0 as restatements_28d, 0 as drift_findings,
        'complete' as verdict, 1 as sessions_known_share
      from (values ('quiet'), ('unused')) as t (org_id)`)
  await database.rows(statement('report/chosen'), { names: '[]', names_people: false })
  await database.rows(statement('report/ranges'), { ranges: '[7]' })
  await database.run(statement('report/hides'))
  await database.run(statement('report/org_days'))
  await database.run(`create table whole_weeks as
    select 'quiet' as org_id, unnest([date '2026-03-02', date '2026-03-09']) as week_start_date`)
})
afterAll(() => {
  database.close()
})

async function quiet(dataset: string): Promise<(readonly unknown[])[]> {
  const sql = `select * exclude (org_id) from (${statement(`report/${dataset}`)}) where org_id = 'quiet'`
  return (await database.table(sql)).rows.map((row) => row.map(String))
}

it('law 5: the period ends at the last known day, with or without use', async () => {
  const { rows } = await database.table(
    `select org_id, first_day::varchar, last_day::varchar from chosen order by 1`,
  )
  expect(rows).toEqual([
    ['quiet', '2026-03-02', '2026-03-22'],
    ['unused', '2026-03-02', '2026-03-22'],
  ])
})

it('law 5: a period of days without rows has totals of zero', async () => {
  const { rows } = await database.table(
    `select org_id, period, active_users, billable_tokens, git_prs_created
    from (${statement('report/periods')}) order by 1, 2`,
  )
  expect(rows.map((row) => row.map(String).join(' '))).toEqual([
    'quiet current 0 0 0',
    'quiet previous 0 0 0',
    'unused current 0 0 0',
    'unused previous 0 0 0',
  ])
})

it('law 5: a day without rows has no active people; those of the days up to it are known if it ends an idle time', async () => {
  const days = await quiet('active_days')
  expect(days.map(([day, ...counts]) => `${String(day).slice(-2)}: ${counts.join(' ')}`)).toEqual([
    ...['02', '03', '04', '05', '06', '07', '08'].map((day) => `${day}: 4 5 6 0.5`),
    ...['09', '10', '11', '12', '13', '14'].map((day) => `${day}: 0 null null null`),
    ...['15', '16', '17'].map((day) => `${day}: 0 0 null null`),
    ...['19', '20', '21', '22'].map((day) => `${day}: 0 null null null`),
  ])
})

it('law 5: credits of a month stay where they are on a day without rows, and have no point on a missing day', async () => {
  const days = await quiet('month_days')
  expect(days.map(([, day, credits]) => `${String(day)}: ${String(credits)}`)).toEqual([
    ...[2, 3, 4, 5, 6, 7, 8].map((day) => `${day}: ${10 * (day - 1)}`),
    ...[9, 10, 11, 12, 13, 14, 15, 16, 17, 19, 20, 21, 22].map((day) => `${day}: 70`),
  ])
})

it('law 5: a whole week without rows has an output of zero, and what is not sent is not known', async () => {
  expect(await quiet('output_weeks')).toEqual([
    ['2026-03-02', '7', 'null', '14', '70'],
    ['2026-03-09', '0', '0', '0', '0'],
  ])
})

it('law 5: the output of a week is not known where one of its days lacks it', async () => {
  await database.run(`begin;
    update org_days set git_commits = null, files_edited = null where activity_date = '2026-03-05'`)
  const [week] = await quiet('output_weeks')
  await database.run('rollback')
  expect(week).toEqual(['2026-03-02', 'null', 'null', 'null', '70'])
})

it('law 5: a client without users in a whole week has zero, from its first week on', async () => {
  expect(await quiet('client_weeks')).toEqual([
    ['2026-03-02', 'cli', '3'],
    ['2026-03-02', 'web', 'null'],
    ['2026-03-09', 'app', '1'],
    ['2026-03-09', 'cli', '0'],
    ['2026-03-09', 'web', '0'],
  ])
})

it('law 5: days that a figure lacks are those without a response of its resource, or without it in the response', async () => {
  expect(await quiet('unknown_days')).toEqual([
    ...[2, 3, 4, 5, 6, 7, 8].map((day) => [`2026-03-0${day}`, 'git_prs_created']),
    ['2026-03-17', 'tools'],
    ...['activity', 'productivity', 'tokens', 'tools', 'users'].map((of) => ['2026-03-18', of]),
  ])
})
