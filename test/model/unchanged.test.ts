import { expect, it } from 'vitest'
import { DAILY, serve, type UserDay } from './daily.ts'
import { Bench } from './fixture.ts'
import { project } from './alone.ts'

const ROWS: readonly UserDay[] = [
  ['a', '2026-01-14', 'u1', 1, 'v1'],
  ['a', '2026-01-15', 'u1', 3, 'v1'],
]

/** Builds of one source, of which it is said whether there is something else in it. */
async function builtTwice(before: string | null, now: string | null): Promise<Bench> {
  const bench = await Bench.open()
  await serve(bench, ROWS)
  await bench.build(DAILY, { sourceContent: () => before })
  await bench.write('create or replace table fct_total as select 999 as sessions')
  await bench.build(DAILY, { sourceContent: () => now })
  return bench
}

it('a table of the same rows, made the same way, is not made again', async () => {
  const bench = await builtTwice('digest-1', 'digest-1')
  expect(await bench.rows('select cast(sessions as int) as sessions from fct_total')).toEqual([
    { sessions: 999 },
  ])
})

it.each([
  ['there is something else in the source', 'digest-1', 'digest-2'],
  ['it is not known what is in the source', null, null],
  ['it was not known what was in the source', null, 'digest-1'],
])('a table is made again when %s', async (_, before, now) => {
  const bench = await builtTwice(before, now)
  expect(await bench.rows('select cast(sessions as int) as sessions from fct_total')).toEqual([
    { sessions: 4 },
  ])
})

it('a check of rows that have not changed is not run again, and is on record all the same', async () => {
  const bench = await builtTwice('digest-1', 'digest-1')
  const results = await bench.rows('select distinct status from meta.check_results')
  expect(results).toEqual([{ status: 'pass' }])
})

it('no model of the project asks for the time or for chance, so that it may stand', () => {
  expect(JSON.stringify(project.models.map(({ template }) => template))).toContain('group by')
  const asking = [...project.models, ...project.tests].filter(({ template }) =>
    /current_date|current_timestamp|now\s*\(|today\s*\(|random|uuid|run_started_at/i.test(
      JSON.stringify(template),
    ),
  )
  expect(asking.map(({ name }) => name)).toEqual([])
})
