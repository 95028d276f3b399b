import { describe, expect, it } from 'vitest'
import { literal, type Cell } from '../../../src/lib/duckdb.ts'
import { rowsOf } from '../alone.ts'

/** A day of the only user: the address as sent, and credits. */
type Day = readonly [day: string, email: string | null, credits: number | null]

/** A limit of one user or, without an address, of all; and the days from and to which it holds. */
type Limit = readonly [email: string | null, credits: number | null, from: string, to: string]

interface Known {
  readonly days: readonly Day[]
  readonly limits?: readonly Limit[]
  /** The number of days of February whose users are known. */
  readonly known?: number
}

const COLUMNS = [
  ...['billable_tokens', 'known_days', 'forecast_billable_tokens', 'limit_scope'],
  ...['effective_limit', 'share_of_limit', 'is_exceeded', 'will_exceed'],
]

function text(value: string | number | null, type: string): string {
  return `cast(${typeof value === 'string' ? literal(value) : String(value)} as ${type})`
}

/** The model's row of the user's only month. */
async function usage({ days, limits = [], known = 7 }: Known): Promise<unknown[]> {
  const userDays = days.map(
    ([day, email, credits]) =>
      `('org', 'u1', ${text(day, 'date')}, ${text(email, 'varchar')}, ${text(credits, 'bigint')})`,
  )
  const all: readonly Limit[] = [...limits, [null, null, '2020-01-01', '2020-01-01']]
  const periods = all.map(([email, credits, from, to]) => {
    const scope = email === null ? 'global' : 'user'
    const limit = text(credits, 'bigint')
    const values = [text(email, 'varchar'), limit, limit, text(from, 'date'), text(to, 'date')]
    return `('org', '${scope}', ${values.join(', ')})`
  })
  const [row] = await rowsOf('mart_limit_usage', {
    'intermediate.int_user_months': `select org_id, date '2026-02-01' as month_start_date, user_id,
      user_email, max(activity_date) as last_date, sum(billable_tokens) as billable_tokens
      from (values ${userDays.join(', ')})
        as days (org_id, user_id, activity_date, user_email, billable_tokens)
      group by all`,
    dim_user: `select 'org' as org_id, 'u1' as user_id, cast(null as varchar) as user_email`,
    'intermediate.int_resource_months': `select 'org' as org_id, 'users' as resource,
      date '2026-02-01' as month_start_date, cast(${known} as bigint) as known_days, 28 as days_in_month
      where ${known} > 0`,
    fct_usage_limit: `from (values ${periods.join(', ')}) as limits (org_id, limit_scope,
      user_email, credit_limit, effective_limit, valid_from, last_seen_date)`,
  })
  return COLUMNS.map((column): Cell | undefined => row?.[column])
}

const M = 1_000_000
const FEBRUARY = ['2026-02-01', '2026-02-08'] as const
const days: readonly Day[] = [
  ['2026-02-01', 'A@x.example', M],
  ['2026-02-02', ' a@X.example', 2 * M],
]
const SPENT = ['3000000.000000', '7', '12000000.000000']

describe('the limit of a user', () => {
  it.each<[what: string, known: Known, expected: readonly unknown[]]>([
    [
      'is the global one',
      { days, limits: [[null, 6 * M, ...FEBRUARY]] },
      [...SPENT, 'global', '6000000', 0.5, false, true],
    ],
    [
      'is their own before the global one, whatever the case of the address',
      {
        days,
        limits: [
          [null, 2 * M, ...FEBRUARY],
          ['a@x.example', 12 * M, ...FEBRUARY],
        ],
      },
      [...SPENT, 'user', '12000000', 0.25, false, false],
    ],
    [
      'is exceeded by more credits',
      { days, limits: [[null, 2 * M, ...FEBRUARY]] },
      [...SPENT, 'global', '2000000', 1.5, true, true],
    ],
    [
      'is not exceeded by exactly as many credits',
      { days, limits: [[null, 3 * M, ...FEBRUARY]] },
      [...SPENT, 'global', '3000000', 1, false, true],
    ],
    [
      'of zero is exceeded, and has no share',
      { days, limits: [[null, 0, ...FEBRUARY]] },
      [...SPENT, 'global', '0', null, true, true],
    ],
    [
      'is NULL when there is none',
      { days, limits: [[null, null, ...FEBRUARY]] },
      [...SPENT, 'global', null, null, false, false],
    ],
    [
      'is the last one seen in the month',
      {
        days,
        limits: [
          [null, 2 * M, '2026-01-20', '2026-02-05'],
          [null, 6 * M, '2026-02-10', '2026-03-05'],
          [null, 9 * M, '2026-03-06', '2026-03-10'],
        ],
      },
      [...SPENT, 'global', '6000000', 0.5, false, true],
    ],
    [
      'is the one of the first day if no other day has one',
      { days, limits: [[null, 6 * M, '2026-01-20', '2026-02-01']] },
      [...SPENT, 'global', '6000000', 0.5, false, true],
    ],
    [
      'is the one of the last day if it was first seen then',
      { days, limits: [[null, 6 * M, '2026-02-28', '2026-03-05']] },
      [...SPENT, 'global', '6000000', 0.5, false, true],
    ],
    [
      'is their own one of the last day, even if it changed the day after',
      {
        days,
        limits: [
          [null, 2 * M, '2026-02-10', '2026-03-05'],
          ['a@x.example', 12 * M, '2026-02-10', '2026-02-28'],
          ['a@x.example', M, '2026-03-01', '2026-03-05'],
        ],
      },
      [...SPENT, 'user', '12000000', 0.25, false, false],
    ],
    [
      'is unknown when none was seen in the month',
      {
        days,
        limits: [
          [null, 2 * M, '2026-01-20', '2026-01-31'],
          [null, 6 * M, '2026-03-01', '2026-03-05'],
        ],
      },
      [...SPENT, null, null, null, null, null],
    ],
    [
      'is the global one when the user has no address',
      { days: [['2026-02-01', null, M]], limits: [[null, 2 * M, ...FEBRUARY]] },
      ['1000000.000000', '7', '4000000.000000', 'global', '2000000', 0.5, false, true],
    ],
  ])('%s', async (_, known, expected) => {
    expect(await usage(known)).toEqual(expected)
  })
})

describe('the forecast of a user', () => {
  it('equals the consumption of a month whose days are all known', async () => {
    const [spent, , forecast] = await usage({ days, known: 28 })
    expect([spent, forecast]).toEqual(['3000000.000000', '3000000.000000'])
  })

  it('is NULL when no day of the month is known or no credits are sent', async () => {
    expect((await usage({ days, known: 0 }))[2]).toBe(null)
    const unsent = await usage({
      days: [['2026-02-01', 'a@x.example', null]],
      limits: [[null, 2 * M, ...FEBRUARY]],
    })
    expect(unsent).toEqual([null, '7', null, 'global', '2000000', null, null, null])
  })
})
