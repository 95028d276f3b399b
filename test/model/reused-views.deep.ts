import { expect, it } from 'vitest'
import { DAILY, serve } from './daily.ts'
import { Bench, type Files } from './fixture.ts'

const YML = DAILY['models/stg_users.yml'] ?? ''

/** The view in the catalogue: its SQL without file names, its comment and those of its columns. */
async function viewOf(bench: Bench): Promise<unknown> {
  return bench.rows(`select regexp_replace(sql, '''[^'']*''', 'file') as sql, comment,
      (select list(comment order by column_index) from duckdb_columns() as own
        where own.table_name = 'stg_users' and own.database_name = current_database()) as columns
    from duckdb_views() where view_name = 'stg_users' and database_name = current_database()`)
}

async function twice(first: Files, second: Files): Promise<[unknown, unknown]> {
  const bench = await Bench.open()
  await serve(bench, [['a', '2026-01-14', 'u1', 1, 'v1']])
  await bench.build(first)
  const before = await viewOf(bench)
  await bench.build(second)
  const after = await viewOf(bench)
  return [before, after]
}

it('an unchanged view is reused with its comments', async () => {
  const [before, after] = await twice(DAILY, DAILY)
  expect(after).toEqual(before)
  expect(JSON.stringify(after)).toContain('The version of the day.')
})

it.each([
  [
    'its select',
    'models/stg_users.sql',
    "select * from {{ source('platform', 'users') }} -- new\n",
  ],
  ['its description', 'models/stg_users.yml', YML.replace('One row per org', 'A row per org')],
  ["a column's description", 'models/stg_users.yml', YML.replace('The user.', 'Who it was.')],
])('a view is created again when %s changes, as in a new file', async (_, file, text) => {
  const changed = { ...DAILY, [file]: text }
  const [, after] = await twice(DAILY, changed)
  const [fresh] = await twice(changed, changed)
  expect(after).toEqual(fresh)
})
