import { describe, expect, it } from 'vitest'
import { daysBetween, parseDay } from '../../src/lib/days.ts'
import { rowsOf } from './alone.ts'

/** Credits by the number of days before the last day, which is a Tuesday. */
type Credits = Readonly<Record<number, number>>

interface Known {
  /** Of each user, by id. */
  readonly users?: Readonly<Record<string, Credits>>
  /** Of the organisation, and the daily active users of its days. */
  readonly org?: Credits
  readonly active?: number
}

const LAST_DAY = parseDay('2026-06-30', 'the last day')
const LAST = `date '${LAST_DAY}'`

/** The same credits in some weeks before a day. */
function weekly(credits: number, weeks: number, before = 0): Credits {
  const days = Array.from({ length: weeks }, (_, week) => before + 7 * (week + 1))
  return Object.fromEntries(days.map((day) => [day, credits]))
}

const NO_DAY = '(null, cast(null as varchar), cast(null as date), cast(null as bigint))'

/** The days that are flagged, each with its user or without, as days before the last one. */
async function flagged({ users = {}, org = {}, active = 6 }: Known): Promise<string[]> {
  const linesOf = (user: string, credits: Credits): string[] =>
    Object.entries(credits).map(([day, value]) => `('org', '${user}', ${LAST} - ${day}, ${value})`)
  const userDays = Object.entries(users).flatMap(([user, credits]) => linesOf(user, credits))
  const daysFrom = (lines: readonly string[]): string =>
    `select * from (values ${[...lines, NO_DAY].join(', ')})
      as days (org_id, user_id, activity_date, billable_tokens) where org_id is not null`
  const rows = await rowsOf('mart_anomalies', {
    fct_user_day: daysFrom(userDays),
    fct_org_day: `select *, ${active} as daily_active_users from (${daysFrom(linesOf('', org))})`,
    dim_date: `select 'org' as org_id, cast(day as date) as activity_date, isodow(day) as iso_weekday
      from range(${LAST} - 100, ${LAST} + 1, interval 1 day) as days (day)`,
  })
  return rows.map(({ user_id: user, activity_date: date }) => {
    const day = String(
      daysBetween(parseDay(typeof date === 'string' ? date : '', 'a flagged day'), LAST_DAY),
    )
    return typeof user === 'string' ? `${user} ${day}` : day
  })
}

describe('a day of an organisation is flagged', () => {
  it.each<[what: string, org: Credits, expected: readonly string[]]>([
    ['27 days before the last one', { ...weekly(100, 8, 27), 27: 10_000 }, ['27']],
    ['not 28 days before it', { ...weekly(100, 8, 28), 28: 10_000 }, []],
    ['after four of its weekdays', { ...weekly(100, 4), 0: 10_000 }, ['0']],
    ['not after three', { ...weekly(100, 3), 0: 10_000 }, []],
    ['because of the eight weeks before it', { ...weekly(100, 4, 28), 0: 10_000 }, ['0']],
    ['not because of a ninth week', { ...weekly(100, 4, 35), 0: 10_000 }, []],
    ['not because of days without credits', { ...weekly(100, 3), 28: 0, 0: 10_000 }, []],
    ['not because of other weekdays', { ...weekly(100, 8, 1), 0: 10_000 }, []],
    ['2.7 times above the usual', { ...weekly(100, 8), 0: 273 }, ['0']],
    ['not 2.7 times below it', { ...weekly(100, 8), 0: 36 }, []],
    ['four times below it', { ...weekly(100, 8), 0: 25 }, ['0']],
    [
      'not when four days of the period vary as much',
      {
        ...{ ...weekly(100, 4, 28), 0: 10_000 },
        ...{ ...weekly(100, 4, 29), 1: 10_000 },
        ...{ ...weekly(100, 4, 30), 2: 10_000 },
        ...{ ...weekly(100, 4, 31), 3: 10_000 },
      },
      [],
    ],
  ])('%s', async (_, org, expected) => {
    expect(await flagged({ org })).toEqual(expected)
  })

  it.each([
    [6, ['0']],
    [5, []],
  ])('only if it usually has more than five users: %i', async (active, expected) => {
    expect(await flagged({ org: { ...weekly(100, 8), 0: 10_000 }, active })).toEqual(expected)
  })
})

/** The days of the last nine weeks, each with the same credits but the last one. */
const usualUntil = (last: number): Credits => ({ ...everyDay(100), 0: last })

function everyDay(credits: number): Credits {
  return Object.fromEntries(Array.from({ length: 63 }, (_, day) => [day, credits]))
}

/** Users `u0`, `u1` and so on, each with its credits of the last day. */
function usersOf(
  lasts: readonly number[],
  daysUntil: (last: number) => Credits,
): Readonly<Record<string, Credits>> {
  return Object.fromEntries(lasts.map((last, index) => [`u${index}`, daysUntil(last)]))
}

describe('a day of a user', () => {
  const M = 1_000_000_000
  /** The only judged day is the last one. */
  const lastOnly = (usual: number) => (last: number) => ({ ...weekly(usual, 4, 28), 0: last })
  const rest = (usual: number, count: number): number[] =>
    Array.from({ length: count }, () => usual)

  it.each<[what: string, usual: number, lasts: readonly number[], expected: readonly string[]]>([
    ['is flagged if 15 days of users are known', 100, [M, ...rest(100, 14)], ['u0 0']],
    ['is not flagged if 14 are known', 100, [M, ...rest(100, 13)], []],
    ['above a twentieth of all is flagged', 100, [73_628, 302, ...rest(100, 13)], ['u0 0']],
    ['within a twentieth of all is not', 100, [2726, 302, ...rest(100, 13)], []],
    ['below a twentieth of all is flagged', M, [954, M / 2, ...rest(M, 13)], ['u0 0']],
    ['within the other twentieth is not', M, [244_140, M / 2, ...rest(M, 13)], []],
    [
      'above is not compared with those below',
      M,
      [20 * M, M / 99, M / 99, ...rest(M, 12)],
      ['u0 0'],
    ],
  ])('%s', async (_, usual, lasts, expected) => {
    expect(await flagged({ users: usersOf(lasts, lastOnly(usual)) })).toEqual(expected)
  })

  it.each([
    ['is flagged among five users, too few to be compared', [1000, 1000, 1000, 1000, 1000], 5],
    ['is not flagged among six with the same day', [1000, 1000, 1000, 1000, 1000, 1000], 0],
    ['is not flagged for more than usual when peers have more', [1000, ...rest(M, 6)], 0],
  ])('%s', async (_, lasts, expected) => {
    expect(await flagged({ users: usersOf(lasts, usualUntil) })).toHaveLength(expected)
  })

  it('is not flagged without a user, nor because of days without credits', async () => {
    const users = {
      ...usersOf(rest(100, 9), usualUntil),
      '(unattributed)': usualUntil(10_000),
      zero: { ...weekly(100, 3), 28: 0, 0: 10_000 },
    }
    expect(await flagged({ users })).toEqual([])
  })
})
