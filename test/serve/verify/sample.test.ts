import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { join } from 'node:path'
import { addDays, eachDay, HISTORY_START } from '../../../src/lib/days.ts'
import { Database } from '../../../src/lib/duckdb.ts'
import { sampleDays } from '../../../src/serve/verify/sample.ts'
import { chooseSample } from '../../../src/serve/verify/verify.ts'
import { temporaryFolder } from '../../support/helpers.ts'

const days = (count: number) =>
  eachDay({ first: HISTORY_START, last: addDays(HISTORY_START, count - 1) })

describe('a sample of days', () => {
  it('has the last day and the requested number of distinct days, in order', () => {
    const chances = fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }))
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
    const data = await temporaryFolder()
    const database = await Database.open(join(data, 'warehouse.duckdb'))
    await database.run(`create schema meta;
      create table meta.intervals as
        select 'org' as org_id, *
        from (values
          ('tokens', date '2026-02-01', 'landed'), ('tokens', date '2026-02-02', 'empty'),
          ('tokens', date '2026-02-03', 'failed'), ('usage_limits', date '2026-02-03', 'landed')
        ) as days (resource, activity_date, status)`)
    database.close()
    const world = { now: () => Date.parse('2026-03-01T00:10:00Z'), random: () => 0 }
    const sample = await chooseSample(data, { count: 7 }, world)
    expect(sample).toMatchObject({ history: 46, days: ['2026-02-01', '2026-02-02'] })
    const within = { first: HISTORY_START }
    expect((await chooseSample(data, { within }, world)).days).toHaveLength(46)
  })
})
