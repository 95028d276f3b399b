import { describe, expect, it } from 'vitest'
import { rowsOf } from './alone.ts'

/** A number between 0 and 1, the same in every run, by the given SQL. */
const uniform = (of: string): string =>
  `((('0x' || substr(md5(${of}), 1, 8))::bigint + 0.5) / 4294967296)`
const ofDay = (salt: string): string => uniform(`user_number || ' ' || activity_date || ' ${salt}'`)
const ofUser = (salt: string): string => uniform(`user_number || ' ${salt}'`)

const NORMAL = `sqrt(-2 * ln(${ofDay('a')})) * cos(2 * pi() * ${ofDay('b')})`
const lognormal = (spread: string): string => `exp((${spread}) * ${NORMAL})`
/** Counts with the mean and variance of a Poisson distribution. */
const counts = (mean: number): string => `greatest(0, round(${mean} + sqrt(${mean}) * ${NORMAL}))`

interface Quiet {
  readonly users: number
  readonly usersPerOrg?: number
  readonly days?: number
  /** The share of weekdays, and of days at weekends, that a user works. */
  readonly presence?: number
  readonly weekends?: number
  /** SQL for the credits of a user that are usual on a weekday. */
  readonly usual?: string
  /** SQL for what a day is of the usual, and for the factor of planted days instead of it. */
  readonly varies?: string
  readonly factor?: string
}

/** The anomalies of users with the given days. A planted day is always there. */
async function anomaliesOf({
  users,
  usersPerOrg = users,
  days = 84,
  presence = 0.85,
  weekends = 0.2,
  usual = '10000 * (1 + user_number % 50) * case when iso_weekday >= 6 then 0.3 else 1 end',
  varies = lognormal('0.3'),
  factor = 'null',
}: Quiet) {
  const last = `date '2026-06-30'`
  const userDays = `
    select *,
      case when iso_weekday >= 6 then ${weekends} else ${presence} end > ${ofDay('c')} as is_there,
      ${factor} as factor
    from (
      select unnest(generate_series(1, ${users})) as user_number,
        'org ' || (user_number - 1) // ${usersPerOrg} as org_id
    ) cross join (
      select activity_date::date as activity_date, isodow(activity_date) as iso_weekday,
        (activity_date::date - ${last}) / 7 as week
      from generate_series(${last} - ${days - 1}, ${last}, interval 1 day) as days (activity_date)
    )`
  return rowsOf('mart_anomalies', {
    fct_user_day: `
      select org_id, 'user ' || user_number as user_id, activity_date, iso_weekday,
        ((${usual}) * coalesce(factor, ${varies}))::decimal(28, 6) as billable_tokens
      from (${userDays})
      where is_there or factor is not null`,
    fct_org_day: `
      select org_id, activity_date, sum(billable_tokens)::decimal(38, 6) as billable_tokens,
        count(*) as daily_active_users
      from fct_user_day group by 1, 2`,
    dim_date: `
      select org_id, activity_date, max(iso_weekday) as iso_weekday from fct_user_day group by 1, 2`,
  })
}

type Found = Awaited<ReturnType<typeof anomaliesOf>>

function usersOf(rows: Found): string[] {
  return rows.flatMap(({ user_id: user, activity_date: day }) =>
    typeof user === 'string' && typeof day === 'string' ? [`${user} ${day}`] : [],
  )
}

/** A third on average. */
const VARIED = '0.2 + 0.1 * (user_number % 4)'

describe('the anomalies of quiet organisations', () => {
  const level = (weekday: string): string => `1000 * exp(4 * ${ofUser(weekday)})`
  const everyDay = { presence: 1, weekends: 1 }

  it.each<readonly [string, Omit<Quiet, 'users'>]>([
    ['users who vary by a third', {}],
    ['users some of whom vary more', { varies: lognormal(VARIED) }],
    ['users who vary by a half', { varies: lognormal('0.5') }],
    ['users who vary by a factor of two', { varies: lognormal('0.8') }],
    ['uniformly random days', { varies: ofDay('d') }],
    ['uniformly random days, weekends too', { varies: ofDay('d'), ...everyDay }],
    ['exponential days', { varies: `-ln(${ofDay('d')})` }],
    ['few credits, counted', { usual: '1', varies: counts(5) }],
    ['more credits, counted', { usual: '1', varies: counts(100) }],
    ['users with few days', { presence: 0.3, weekends: 0.1, varies: lognormal('0.6') }],
    ['a level for each weekday', { usual: level(`' || iso_weekday || '`) }],
    ['one large day a week', { usual: `${level('')} * if(user_number % 5 = iso_weekday, 30, 1)` }],
    ['many times as much on every seventh day', { varies: `if(${ofDay('d')} < 0.15, 15, 1)` }],
    ['nearly nothing on every seventh day', { varies: `if(${ofDay('d')} < 0.15, 0.03, 1)` }],
    ['growth by a tenth a week', { usual: `${level('')} * exp(0.1 * week)` }],
    ['a slow creep of some users', { usual: `${level('')} * exp(0.25 * ${ofUser('e')} * week)` }],
    ['the same on all days', { varies: '1' }],
  ])('are at most one in 1,000 user days: %s', async (_, shape) => {
    const users = 500
    const { presence = 0.85, weekends = 0.2 } = shape
    const userDays = users * (20 * presence + 8 * weekends)
    for (const usersPerOrg of [3, 20, users]) {
      const rows = await anomaliesOf({ ...shape, users, usersPerOrg })
      expect(rows.length, `organisations of ${usersPerOrg}`).toBeLessThanOrEqual(userDays / 1000)
    }
  })

  it('with constant consumption do not include a doubled day', async () => {
    const day = `user_number = 3 and activity_date = date '2026-06-24'`
    const rows = await anomaliesOf({
      users: 20,
      varies: '1',
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
    ['a twentieth of the usual credits', '0.05'],
  ])('is found: %s', async (_, factor) => {
    const rows = await anomaliesOf({
      users: 1000,
      varies: lognormal('0.2'),
      factor: planted(factor),
    })
    expect(usersOf(rows)).toEqual(expect.arrayContaining(expected(1000)))
  })

  it('is found in nine of ten cases when days vary by a third and more', async () => {
    const varied = { users: 2000, varies: lognormal(VARIED) }
    const rows = await anomaliesOf({ ...varied, factor: planted('10', 10) })
    const found = usersOf(rows).filter((each) => expected(2000, 10).includes(each))
    expect(found.length).toBeGreaterThanOrEqual(180)
  })

  it('is found in an organisation with too few users for peers', async () => {
    const rows = await anomaliesOf({ users: 4, factor: planted('10', 4) })
    expect(usersOf(rows)).toEqual(expected(4, 4))
    expect(rows.find(({ scope }) => scope === 'user')).toMatchObject({
      org_id: 'org 0',
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
    const days = { users: 100, varies: lognormal('0.2'), factor: planted('10') }
    expect(usersOf(await anomaliesOf({ ...days, days: 30 }))).toEqual([])
    expect(usersOf(await anomaliesOf({ ...days, days: 63 }))).toEqual(expected(100))
  })
})
