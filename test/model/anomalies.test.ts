import { describe, expect, it } from 'vitest'
import { rowsOf } from './alone.ts'

/** A number between 0 and 1, the same in every run. */
const uniform = (salt: string): string =>
  `((('0x' || substr(md5(user_number || ' ' || activity_date || ' ${salt}'), 1, 8))::bigint + 0.5)
    / 4294967296)`

const NORMAL = `sqrt(-2 * ln(${uniform('a')})) * cos(2 * pi() * ${uniform('b')})`

interface Quiet {
  readonly users: number
  readonly days?: number
  /** SQL for the spread of the logarithm of a user's days, and for the factor of planted days. */
  readonly spread?: string
  readonly factor?: string
}

/**
 * Lognormal days of users who work on most weekdays, and on some weekend days with a third of the
 * credits. A planted day is always there and has the usual credits times a factor.
 */
async function anomaliesOf({ users, days = 84, spread = '0.3', factor = 'null' }: Quiet) {
  const last = `date '2026-06-30'`
  const userDays = `
    select *,
      case when iso_weekday >= 6 then 0.2 else 0.85 end > ${uniform('c')} as is_there,
      10000 * (1 + user_number % 50) * case when iso_weekday >= 6 then 0.3 else 1 end as usual,
      ${factor} as factor
    from (
      select 'org' as org_id, unnest(generate_series(1, ${users})) as user_number
    ) cross join (
      select activity_date::date as activity_date, isodow(activity_date) as iso_weekday
      from generate_series(${last} - ${days - 1}, ${last}, interval 1 day) as days (activity_date)
    )`
  const rows = await rowsOf('mart_anomalies', {
    fct_user_day: `
      select org_id, 'user ' || user_number as user_id, activity_date, iso_weekday,
        (usual * coalesce(factor, exp((${spread}) * ${NORMAL})))::decimal(28, 6) as billable_tokens
      from (${userDays})
      where is_there or factor is not null`,
    fct_org_day: `
      select org_id, activity_date, sum(billable_tokens)::decimal(38, 6) as billable_tokens
      from fct_user_day group by 1, 2`,
    dim_date: `
      select org_id, activity_date, max(iso_weekday) as iso_weekday from fct_user_day group by 1, 2`,
  })
  return rows
}

type Found = Awaited<ReturnType<typeof anomaliesOf>>

/** The user days of the last 28 days, which are the ones compared. */
const JUDGED = 28 * (5 / 7) * 0.85

function usersOf(rows: Found): string[] {
  return rows.flatMap(({ user_id: user, activity_date: day }) =>
    typeof user === 'string' && typeof day === 'string' ? [`${user} ${day}`] : [],
  )
}

/** A third on average. */
const VARIED = '0.2 + 0.1 * (user_number % 4)'

describe('the anomalies of a quiet organisation', () => {
  it.each([
    ['with many similar users', { users: 1500 }],
    ['with many users, some of whom vary more', { users: 1500, spread: VARIED }],
    ['with days that vary by half', { users: 1500, spread: '0.5' }],
    ['with too few users for peers', { users: 5, days: 84 }],
  ])('%s are at most one in 1,000 user days', async (_, quiet) => {
    const rows = await anomaliesOf(quiet)
    expect(usersOf(rows).length).toBeLessThanOrEqual((quiet.users * JUDGED) / 1000)
    expect(rows.filter(({ scope }) => scope === 'org')).toEqual([])
  })

  it('with constant consumption do not include a doubled day', async () => {
    const day = `user_number = 3 and activity_date = date '2026-06-24'`
    const rows = await anomaliesOf({
      users: 20,
      spread: '0',
      factor: `case when ${day} then 2 end`,
    })
    expect(rows).toEqual([])
  })
})

describe('a planted anomaly', () => {
  /** Of every 50th user, a Wednesday. */
  const planted = (factor: string, every = 50): string =>
    `case when user_number % ${every} = 0 and activity_date = date '2026-06-24' then ${factor} end`
  const expected = (users: number, every = 50): string[] =>
    Array.from({ length: users / every }, (_, n) => `user ${(n + 1) * every} 2026-06-24`).sort()

  it.each([
    ['ten times the usual credits', '10'],
    ['a tenth of the usual credits', '0.1'],
  ])('is found: %s', async (_, factor) => {
    const rows = await anomaliesOf({ users: 1000, spread: '0.2', factor: planted(factor) })
    expect(usersOf(rows).sort()).toEqual(expected(1000))
  })

  it('is found in nine of ten cases when days vary by a third and more', async () => {
    const varied = { users: 2000, spread: VARIED }
    const rows = await anomaliesOf({ ...varied, factor: planted('10', 10) })
    const found = usersOf(rows).filter((each) => expected(2000, 10).includes(each))
    expect(found.length).toBeGreaterThanOrEqual(180)
  })

  it('is found in an organisation with too few users for peers', async () => {
    const rows = await anomaliesOf({ users: 4, factor: planted('10', 4) })
    expect(usersOf(rows)).toEqual(expected(4, 4))
    expect(rows.find(({ scope }) => scope === 'user')).toMatchObject({
      org_id: 'org',
      metric: 'billable_tokens',
      value: '500000.000000',
      peers_score: null,
    })
  })

  it('is found for the organisation, and not for its users, when all of them consume more', async () => {
    const rows = await anomaliesOf({ users: 200, factor: planted('8', 1) })
    expect(rows.filter(({ scope }) => scope === 'org')).toMatchObject([
      { activity_date: '2026-06-24', user_id: null, peers_score: null },
    ])
    expect(usersOf(rows).filter((user) => user.endsWith('2026-06-24'))).toEqual([])
  })

  it('is not found when the weekday has fewer than four days of history', async () => {
    const days = { users: 100, spread: '0.2', factor: planted('10') }
    expect(usersOf(await anomaliesOf({ ...days, days: 30 }))).toEqual([])
    expect(usersOf(await anomaliesOf({ ...days, days: 63 }))).toEqual(expected(100))
  })
})
