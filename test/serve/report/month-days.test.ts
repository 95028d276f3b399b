import { afterAll, beforeAll, expect, it } from 'vitest'
import { Database } from '../../../src/lib/duckdb.ts'
import { statement } from '../../../src/lib/package.ts'

/** On 10 March: one organisation is known since 14 January, one since 5 March. */
let database: Database
beforeAll(async () => {
  database = await Database.open(':memory:')
  await database.run(`create table chosen as
      select *, date '2026-03-10' as last_day
      from (values ('old', date '2026-01-14'), ('young', date '2026-03-05'))
        as organisations (org_id, first_known_day);
    create table org_days as
      select org_id, unnest(generate_series(first_known_day, last_day, interval 1 day))::date
          as activity_date,
        10 as billable_tokens
      from chosen`)
})
afterAll(() => {
  database.close()
})

it('a month in which the history begins is not drawn beside whole ones', async () => {
  const { rows } = await database.table(`
    select org_id, month, max(day_of_month), max(billable_tokens)
    from (${statement('report/month_days')}) group by 1, 2 order by 1, 2`)
  expect(rows.map((row) => row.map(String).join(' '))).toEqual([
    'old 2026-02 28 280',
    'old 2026-03 10 100',
    'young 2026-03 10 60',
  ])
})
