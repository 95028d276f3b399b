import { expect, it } from 'vitest'
import { Database } from '../../../src/lib/duckdb.ts'
import { statement } from '../../../src/lib/package.ts'

/** The rows of a dataset in the middle of April, of March without its last three days and the 5th, by its last asked day. */
async function rowsOf(dataset: string, lastAsked: string) {
  await using database = await Database.open(':memory:')
  await database.run(`create table chosen as
      select 'a' as org_id, date '2026-03-28' as last_day, date '${lastAsked}' as last_asked_day;
    create table mart_budget_forecast as
      select 'a' as org_id, date '2026-03-01' as month_start_date, as_of_date,
        31 - extract(day from as_of_date) as days_left, extract(day from as_of_date) - 1 as known_days,
        31 as days_in_month, 60 as month_to_date_billable_tokens,
        80 as forecast_billable_tokens_p10, 90 as forecast_billable_tokens_p50,
        120 as forecast_billable_tokens_p90, 85 as credit_limit, date '2026-03-30' as exhaustion_date
      from (values (date '2026-03-27'), (date '2026-03-28')) as days (as_of_date);
    create table mart_limit_usage as
      select 'a' as org_id, date '2026-03-01' as month_start_date, *
      from (values (true, true), (false, true)) as t (is_exceeded, will_exceed)`)
  return await database.rows(statement(`report/${dataset}`))
}

const before = { day: '2026-03-27', days_left: '4', missing_days: '1', p50: 90 }

it('a past month without its last days has no forecast', async () => {
  expect(await rowsOf('forecast_days', '2026-04-02')).toMatchObject([
    before,
    {
      ...{ day: '2026-03-28', days_left: '0', missing_days: '4', month_to_date: 60 },
      ...{ p10: null, p50: null, p90: null, exhaustion_day: null },
    },
  ])
  expect(await rowsOf('limits', '2026-03-31')).toMatchObject([{ users_past: '1', users_over: '1' }])
})

it('a month that is not over has a forecast', async () => {
  expect(await rowsOf('forecast_days', '2026-03-30')).toMatchObject([
    before,
    {
      ...{ day: '2026-03-28', days_left: '3', missing_days: '1', month_to_date: 60 },
      ...{ p10: 80, p50: 90, p90: 120, exhaustion_day: '2026-03-30' },
    },
  ])
  expect(await rowsOf('limits', '2026-03-30')).toMatchObject([{ users_past: '1', users_over: '2' }])
})
