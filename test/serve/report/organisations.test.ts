import { expect, it } from 'vitest'
import { Database } from '../../../src/lib/duckdb.ts'
import { statement } from '../../../src/lib/package.ts'

const ORGANISATIONS = Array.from({ length: 25 }, (_, at) => `org_${String(at).padStart(2, '0')}`)

it.each([
  ['without names, the 20 that spent most', [], ORGANISATIONS.slice(5)],
  ['all that are named, also more than 20', ORGANISATIONS.slice(2), ORGANISATIONS.slice(2)],
  ['one that is named and spent least', ['org_00'], ['org_00']],
])('the organisations of a report are %s', async (_, names, expected) => {
  await using database = await Database.open(':memory:')
  await database.run(`create schema meta; create table meta.intervals
      (org_id varchar, resource varchar, activity_date date, status varchar);
    create table mart_user_28d (org_id varchar, as_of_date date);
    create table mart_data_health as
      select format('org_{:02d}', place) as org_id, date '2026-03-31' as data_through, date '2026-03-31' as last_day,
        0 as missing_days, 0 as failed_days, 0 as residual_checks_failed, 0 as restatements_28d,
        0 as drift_findings, 1 as sessions_known_share, 'complete' as verdict
      from range(${ORGANISATIONS.length}) as t (place);
    create table fct_org_day as
      select org_id, date '2026-03-31' as activity_date, 1 as sessions,
        cast(right(org_id, 2) as integer) as billable_tokens
      from mart_data_health`)
  const parameters = { names: JSON.stringify(names), names_people: false }
  await database.rows(statement('report/chosen'), parameters)
  const rows = await database.rows('select org_id from chosen order by org_id')
  expect(rows.map((row) => row['org_id'])).toEqual(expected)
})
