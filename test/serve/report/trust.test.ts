import { expect, it } from 'vitest'
import { Database } from '../../../src/lib/duckdb.ts'
import { statement } from '../../../src/lib/package.ts'
import { trust } from '../../../src/serve/report/headlines.ts'
import { organisation } from './sample.ts'

const INTERVALS = `create schema meta; create table meta.intervals
    (org_id varchar, resource varchar, activity_date date, status varchar);
  create table mart_user_28d (org_id varchar, as_of_date date)`

it.each([
  ['complete', {}, 'good', 'Complete to 31 Mar 2026', []],
  [
    'provisional',
    { verdict: 'provisional', data_through: '2026-03-30', restatements_28d: 1 },
    'provisional',
    'Complete to 30 Mar 2026',
    ['later days to 31 Mar 2026 are incomplete', '1 restatement in 28 days'],
  ],
  [
    'incomplete',
    { verdict: 'incomplete', missing_days: 9 },
    'bad',
    'Data to 31 Mar 2026',
    ['9 days are missing'],
  ],
  [
    'of more sessions than the platform counts',
    { sessions_known_share: null, has_more_sessions: true },
    'good',
    'Complete to 31 Mar 2026',
    ['the platform counts fewer sessions than were fetched'],
  ],
  ['empty', { data_through: null }, 'bad', 'No day is complete yet', []],
] as const)('the trust strip for data that is %s', (_, rows, level, verdict, notes) => {
  expect(trust(organisation(rows))).toEqual({ level, verdict, notes })
})

it('an organisation has more sessions than the platform counts only where the platform counts some', async () => {
  await using database = await Database.open(':memory:')
  await database.run(`${INTERVALS}; create table mart_data_health as
      select *, date '2026-03-31' as data_through, date '2026-03-31' as last_day, 0 as missing_days, 0 as failed_days,
        0 as residual_checks_failed, 0 as restatements_28d, 0 as drift_findings,
        'complete' as verdict
      from (values ('fewer', 0.5), ('more', null), ('none', null), ('no day', null))
        as t (org_id, sessions_known_share);
    create table fct_org_day as
      select *, date '2026-03-31' as activity_date, 1 as billable_tokens
      from (values ('fewer', 4), ('more', 4), ('none', 0)) as t (org_id, sessions)`)
  await database.rows(statement('report/chosen'), { names: '[]', names_people: false })
  const rows = await database.rows('select org_id from chosen where has_more_sessions')
  expect(rows).toEqual([{ org_id: 'more' }])
})

it('settings are known once they have landed, and days of users are missing within the 28 that are counted', async () => {
  await using database = await Database.open(':memory:')
  await database.run(`${INTERVALS}; create table mart_data_health as
      select *, date '2026-03-31' as data_through, date '2026-03-31' as last_day, 0 as missing_days, 0 as failed_days,
        0 as residual_checks_failed, 0 as restatements_28d, 0 as drift_findings,
        'complete' as verdict, 1 as sessions_known_share
      from (values ('refused'), ('known'), ('new')) as t (org_id);
    create table fct_org_day as
      select 'known' as org_id, date '2026-03-31' as activity_date, 1 as billable_tokens, 1 as sessions;
    insert into mart_user_28d values ('known', '2026-03-30');
    insert into meta.intervals values
      ('refused', 'enterprise_controls', '2026-03-30', 'failed'),
      ('known', 'enterprise_controls', '2026-03-29', 'landed'),
      ('known', 'enterprise_controls', '2026-03-30', 'failed'),
      ('known', 'users', '2026-02-27', 'missing'),
      ('known', 'users', '2026-03-10', 'failed'),
      ('known', 'users', '2026-03-20', 'missing'),
      ('known', 'tokens', '2026-03-21', 'missing'),
      ('known', 'users', '2026-03-30', 'empty'),
      ('known', 'users', '2026-03-31', 'failed')`)
  await database.rows(statement('report/chosen'), { names: '[]', names_people: false })
  const rows = await database.rows(
    'select org_id, are_settings_known, users_missing_28d from chosen order by 1',
  )
  expect(rows).toEqual([
    { org_id: 'known', are_settings_known: true, users_missing_28d: '2' },
    { org_id: 'new', are_settings_known: false, users_missing_28d: '0' },
    { org_id: 'refused', are_settings_known: false, users_missing_28d: '0' },
  ])
})

it('a limit that was passed counts as passed, whatever is expected of it', async () => {
  await using database = await Database.open(':memory:')
  await database.run(`create table chosen as
      select 'a' as org_id, date '2026-03-31' as last_day, date '2026-03-30' as last_asked_day;
    create table mart_limit_usage as
      select 'a' as org_id, date '2026-03-01' as month_start_date, *
      from (values (true, true), (true, null), (false, true), (null, null))
        as t (is_exceeded, will_exceed)`)
  const rows = await database.rows(statement('report/limits'))
  expect(rows).toMatchObject([{ users_past: '2', users_over: '3' }])
})
