import { describe, expect, it } from 'vitest'
import type { Row } from '../../src/lib/duckdb.ts'
import { rowsOf } from './alone.ts'

interface Known {
  /** Credits of a day, as SQL of `day`, a date. */
  readonly credits: string
  /** The first day. @default 2026-01-01 */
  readonly first?: string
  /** Days that failed. */
  readonly failed?: readonly string[]
  /** Limits of the users in April, and of another one in March. */
  readonly limits?: readonly (number | null)[]
  readonly limitInMarch?: number
}

/** The forecasts of each day from the first one to 2026-04-20. */
async function forecasts({
  credits,
  first = '2026-01-01',
  failed = [],
  limits = [],
  limitInMarch,
}: Known): Promise<(day: string) => Row | undefined> {
  const isFailed = `list_contains(${JSON.stringify(failed).replaceAll('"', "'")}, cast(day as varchar))`
  const days = `(select cast(day as date) as day
    from range(date '${first}', date '2026-04-21', interval 1 day) as days (day))`
  const users = limits.map((limit, index) => `(date '2026-04-01', 'u${index}', ${limit})`)
  const inMarch = `(date '2026-03-01', 'u', ${limitInMarch ?? null})`
  const rows = await rowsOf('mart_budget_forecast', {
    fct_org_day: `select 'a' as org_id, day as activity_date,
      cast(${credits} as decimal(38, 6)) as billable_tokens from ${days} where not ${isFailed}`,
    'staging.stg_platform__intervals': `select 'a' as org_id, 'tokens' as resource,
      day as activity_date, case when ${isFailed} then 'failed' else 'landed' end as status
      from ${days}`,
    mart_limit_usage: `select 'a' as org_id, month_start_date, user_id,
      cast(effective_limit as bigint) as effective_limit
      from (values ${[inMarch, ...users].join(', ')})
        as limits (month_start_date, user_id, effective_limit)`,
  })
  return (day) => rows.find((row) => row['as_of_date'] === day)
}

/** 100 on working days, 10 at weekends: 22 and 8 of them in April. */
const WEEKLY = 'case when isodow(day) >= 6 then 10 else 100 end'

describe('the forecast of equal weeks', () => {
  it('gives the total of the month, even where some days are not known', async () => {
    const rowOn = await forecasts({ credits: WEEKLY, failed: ['2026-04-06'] })
    expect(rowOn('2026-04-10')).toMatchObject({
      known_days: '9',
      month_to_date_billable_tokens: '720.000000',
      forecast_billable_tokens_p10: '2280.000000',
      forecast_billable_tokens_p50: '2280.000000',
      forecast_billable_tokens_p90: '2280.000000',
      straight_line_billable_tokens: '2400.000000',
      last_month_billable_tokens: '2290.000000',
      actual_billable_tokens: null,
    })
  })

  it('gives the day on which the limits of all users together are used up', async () => {
    const rowOn = await forecasts({ credits: WEEKLY, limits: [700, 440] })
    const dates = ['2026-04-01', '2026-04-16', '2026-04-17', '2026-04-20'].map(
      (day) => rowOn(day)?.['exhaustion_date'],
    )
    expect(dates).toEqual(['2026-04-15', '2026-04-15', '2026-04-15', '2026-04-15'])
  })

  it('counts the limit of a user who has not been seen yet since the month before', async () => {
    const rowOn = await forecasts({ credits: WEEKLY, limits: [700], limitInMarch: 440 })
    expect(['2026-03-01', '2026-04-01'].map((day) => rowOn(day)?.['credit_limit'])).toEqual([
      '440',
      '1140',
    ])
    expect(rowOn('2026-04-01')).toMatchObject({ exhaustion_date: '2026-04-15' })
  })

  it('gives no exhaustion date of the month before', async () => {
    const rowOn = await forecasts({ credits: WEEKLY, limits: [3000], limitInMarch: 100 })
    const dates = ['2026-03-20', '2026-04-20'].map((day) => rowOn(day)?.['exhaustion_date'])
    expect(dates).toEqual(['2026-03-02', null])
  })

  it.each([
    ['that lasts beyond the month', [3000]],
    ['that one user lacks', [700, null]],
  ])('gives no such day for a limit %s', async (_, limits) => {
    const rowOn = await forecasts({ credits: WEEKLY, limits })
    expect(rowOn('2026-04-20')).toMatchObject({ exhaustion_date: null })
  })
})

it('the forecast of steady growth expects it to continue, with a narrow band', async () => {
  const rowOn = await forecasts({
    credits: "power(1.01, date_diff('day', date '2026-01-01', day))",
  })
  const total = ((1.01 ** 30 - 1) / 0.01) * 1.01 ** 90
  for (const quantile of ['p10', 'p50', 'p90']) {
    const forecast = Number(rowOn('2026-04-20')?.[`forecast_billable_tokens_${quantile}`])
    expect(Math.abs(forecast / total - 1)).toBeLessThan(0.002)
  }
})

it('the errors of more than a year ago do not count, so that the work grows only with the days', async () => {
  const rowOn = await forecasts({
    first: '2024-01-01',
    credits: `case when year(day) = 2024 then 100 * (1 + dayofyear(day) % 9) else ${WEEKLY} end`,
  })
  expect(rowOn('2026-04-20')).toMatchObject({
    past_spans: '364',
    forecast_billable_tokens_p10: '2280.000000',
    forecast_billable_tokens_p90: '2280.000000',
  })
})

it('the forecasts of a past month have an error, except that of its last day', async () => {
  const rowOn = await forecasts({ credits: WEEKLY })
  expect(rowOn('2026-03-20')).toMatchObject({
    forecast_billable_tokens_p50: '2290.000000',
    actual_billable_tokens: '2290.000000',
    is_within_band: true,
    absolute_percentage_error: 0,
  })
  expect(rowOn('2026-03-31')).toMatchObject({
    forecast_billable_tokens_p50: '2290.000000',
    is_within_band: null,
    absolute_percentage_error: null,
  })
})

it('the forecasts of a month without credits have no error', async () => {
  const rowOn = await forecasts({ credits: 'case when month(day) = 3 then 0 else 100 end' })
  expect(rowOn('2026-03-25')).toMatchObject({
    forecast_billable_tokens_p50: '0.000000',
    actual_billable_tokens: '0.000000',
    absolute_percentage_error: null,
    straight_line_error: null,
  })
})
