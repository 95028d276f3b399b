import { describe, expect, it } from 'vitest'
import { literal } from '../../src/lib/duckdb.ts'
import { rowsOf } from './alone.ts'

/** When the user was in team Red. */
type Period = readonly [from: string, to: string | null]

/** The digest of February, of which only the periods of the team and the comparison of a day vary. */
async function digest(red: Period | null, previous: string | null = null): Promise<unknown> {
  const date = (day: string | null) => `cast(${day === null ? 'null' : literal(day)} as date)`
  const [from, to] = red ?? [null, null]
  const rows = await rowsOf('int_spend_month_versions', {
    'intermediate.int_account_month_versions': `select 'a' as org_id,
      date '2026-02-01' as month_start_date, 'days' as month_digest`,
    'intermediate.int_credit_days': `select 'a' as org_id, date '2026-02-01' as month_start_date,
      date '2026-02-03' as activity_date, ${date(previous)} as previous_date,
      cast(null as date) as next_date`,
    dim_user_history: `select 'a' as org_id, 'u' as user_id, 'Red' as team,
      ${date(from)} as valid_from, ${date(to)} as valid_to where ${red !== null}`,
  })
  expect(rows).toHaveLength(1)
  return rows[0]?.['sums_digest']
}

describe('a month of spend is built again', () => {
  it.each<[what: string, before: Period | null, after: Period | null]>([
    ['when a user was in a team on its first day', null, ['2026-01-01', '2026-02-02']],
    ['when a user joins a team on its last day', null, ['2026-02-28', null]],
    ['when a user leaves on its last day', ['2026-01-01', null], ['2026-01-01', '2026-02-28']],
    ['when a user joins a day later', ['2026-02-02', null], ['2026-02-03', null]],
  ])('%s', async (_, before, after) => {
    expect(await digest(after)).not.toBe(await digest(before))
  })

  it('when one of its days is compared', async () => {
    expect(await digest(null, '2026-01-03')).not.toBe(await digest(null))
  })

  it.each<[what: string, before: Period | null, after: Period | null]>([
    ['by a team that ended the day before it', null, ['2026-01-01', '2026-02-01']],
    ['by a team that begins the day after it', null, ['2026-03-01', null]],
    ['by another beginning before it', ['2026-01-01', null], ['2025-12-01', null]],
    ['by an end after it', ['2026-01-01', null], ['2026-01-01', '2026-03-01']],
  ])('but not %s', async (_, before, after) => {
    expect(await digest(after)).toBe(await digest(before))
  })
})
