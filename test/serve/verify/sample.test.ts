import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { join } from 'node:path'
import { addDays, eachDay, HISTORY_START } from '../../../src/lib/days.ts'
import { rememberOrganisation, type KnownOrganisation } from '../../../src/lake/organisations.ts'
import { chooseSample, sampleDays } from '../../../src/serve/verify/verify.ts'
import { temporaryFolder } from '../../support/helpers.ts'
import { writeWarehouse } from '../support.ts'

const days = (count: number) =>
  eachDay({ first: HISTORY_START, last: addDays(HISTORY_START, count - 1) })

describe('a sample of days', () => {
  it('has the last day and the requested number of distinct days, in order', () => {
    const chances = fc.infiniteStream(fc.nat(999_999).map((millionths) => millionths / 1e6))
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 50 }),
        chances,
        (history, count, stream) => {
          const sample = sampleDays(days(history), count, () => [...stream.take(1)][0] ?? 0)
          expect(sample).toHaveLength(Math.min(history, count))
          expect(new Set(sample).size).toBe(sample.length)
          expect(sample).toEqual(sample.toSorted())
          expect(sample.at(-1)).toBe(days(history).at(-1))
        },
      ),
    )
  })

  it('can contain every day', () => {
    const all = days(10)
    const reached = all.map((_, index) => sampleDays(all, 2, () => index / 10)[0])
    expect(new Set(reached).size).toBe(9)
  })

  it('of no days is empty', () => {
    expect(sampleDays([], 3, () => 0)).toEqual([])
  })

  it('is chosen from days that the warehouse has, and a range from all', async () => {
    const data = await published(
      `('org', 'tokens', date '2026-02-01', 'landed'), ('org', 'tokens', date '2026-02-02', 'empty'),
      ('org', 'tokens', date '2026-02-03', 'failed'),
      ('org', 'usage_limits', date '2026-02-03', 'landed')`,
    )
    const world = { now: () => Date.parse('2026-03-01T00:10:00Z'), random: () => 0 }
    const sample = await chooseSample(data, { count: 7 }, world)
    expect(sample).toMatchObject({ history: 46, days: ['2026-02-01', '2026-02-02'] })
    const within = { first: HISTORY_START }
    expect((await chooseSample(data, { within }, world)).days).toHaveLength(46)
  })

  it.each([
    [['acme'], 45, ['2026-02-01'], ['org_a']],
    [['beta'], 46, ['2026-02-02'], ['org_b']],
    [undefined, 46, ['2026-02-01', '2026-02-02'], []],
  ])('of %j ends with their last day, and is of their days', async (...row) => {
    const [organisations, history, expected, orgIds] = row
    const data = await published(
      `('org_a', 'tokens', date '2026-02-01', 'landed'),
      ('org_b', 'tokens', date '2026-02-02', 'landed')`,
    )
    const known = { servedAs: null, lastDay: HISTORY_START }
    await remember(data, 'acme', { ...known, orgId: 'org_a', skewMs: 0 })
    await remember(data, 'beta', { ...known, orgId: 'org_b', skewMs: 3_600_000 })
    const world = { now: () => Date.parse('2026-02-28T23:30:00Z'), random: () => 0 }
    const sample = await chooseSample(data, { count: 7, organisations }, world)
    expect(sample).toMatchObject({ history, days: expected, orgIds })
  })
})

/** A data folder with a warehouse that has those intervals. */
async function published(intervals: string): Promise<string> {
  const data = await temporaryFolder()
  await writeWarehouse(
    join(data, 'warehouse.duckdb'),
    `create schema meta;
    create table meta.intervals as
      select * from (values ${intervals}) as t (org_id, resource, activity_date, status)`,
  )
  return data
}

function remember(data: string, name: string, organisation: KnownOrganisation): Promise<void> {
  return rememberOrganisation(data, name, organisation, (message) => expect.fail(message))
}
