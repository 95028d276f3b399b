import fc from 'fast-check'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { Database } from '../../../src/lib/duckdb.ts'
import { statement } from '../../../src/lib/package.ts'

const shown = z.array(z.object({ cohort: z.string(), week: z.coerce.number() }))

/** The cells of the triangle that a report shows, of weekly cohorts of so many people: `0 3` is the first cohort three weeks later. */
async function cells(sizes: readonly number[]): Promise<Set<string>> {
  await using database = await Database.open(':memory:')
  const cohorts = sizes.map((size, at) => `(${at}, ${size})`).filter((_, at) => sizes[at] !== 0)
  await database.run(`
    create table chosen as select 'a' as org_id, date '2026-01-05' + 7 * ${sizes.length} as last_day;
    create table mart_retention_week as
      select 'a' as org_id, date '2026-01-05' + 7 * cohort as cohort_week,
        cast(week - cohort as bigint) as week_number,
        date '2026-01-05' + 7 * cast(week as integer) as week_start_date,
        cast(users as bigint) as cohort_users, 1 as active_users, 1 / users as retention,
        false as is_left_edge
      from (values ${cohorts.join()}) as cohorts (cohort, users), range(${sizes.length}) as weeks (week)
      where week >= cohort`)
  await database.run(statement('report/hides'))
  const rows = shown.parse(
    await database.rows(
      `select date_diff('week', date '2026-01-05', cast(cohort as date)) as cohort_place,
        cast(cohort_place as varchar) as cohort, cohort_place + week_number as week
      from (${statement('report/retention_weeks')})`,
    ),
  )
  return new Set(rows.map(({ cohort, week }) => `${cohort} ${week}`))
}

it('where a small cohort is the only one that is left out of a week, so is the next larger one', async () => {
  expect([...(await cells([20, 3, 7]))].sort()).toEqual(['0 0', '0 1', '2 2'])
})

it('the cohorts that are left out of a week are five people or more, if they are any', async () => {
  const sizes = fc.array(fc.nat(12), { minLength: 2, maxLength: 34 })
  await fc.assert(
    fc.asyncProperty(
      sizes.filter((all) => all.some((size) => size > 0)),
      async (all) => {
        const shownCells = await cells(all)
        for (const week of all.keys()) {
          const before = all
            .slice(0, week)
            .map((size, at) => ({ size, isShown: shownCells.has(`${at} ${week}`) }))
          const hidden = before
            .filter(({ isShown }) => !isShown)
            .reduce((sum, { size }) => sum + size, 0)
          expect(before.filter(({ size, isShown }) => isShown && size < 5)).toEqual([])
          if (before.some(({ isShown }) => isShown)) expect([1, 2, 3, 4]).not.toContain(hidden)
        }
      },
    ),
    { numRuns: 20 },
  )
})
