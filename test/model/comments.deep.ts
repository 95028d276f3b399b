import { expect, it } from 'vitest'
import { DAILY, serve } from './daily.ts'
import { Bench } from './fixture.ts'

/** The same rows in every build. */
const SAME = { sourceContent: () => 'digest' }

const COMMENTS = `
  select table_name as name, comment from duckdb_tables() where schema_name = 'main'
  union all select view_name, comment from duckdb_views() where not internal
  union all select table_name || '.' || column_name, comment from duckdb_columns()
  where not internal and database_name = current_database() and schema_name = 'main'
  order by 1`

function described(file: string, before: string, after: string) {
  const text = (DAILY[file] ?? '').replace(before, after)
  expect(text).toContain(after)
  return { ...DAILY, [file]: text }
}

it.each([
  ['a table', 'models/fct_total.yml', 'One row.', 'fct_total'],
  ["a table's column", 'models/fct_total.yml', 'description: Sessions.', 'fct_total.sessions'],
  ['an incremental table', 'models/fct_user_day.yml', 'One row per org,', 'fct_user_day'],
  ['a view', 'models/stg_users.yml', 'One row per org,', 'stg_users'],
  ["a view's column", 'models/stg_users.yml', 'The user.', 'stg_users.user_id'],
])('a new description of %s reaches its comment at the next build', async (_, file, text, name) => {
  const bench = await Bench.open()
  await serve(bench, [['a', '2026-01-14', 'u1', 1, 'v1']])
  const first = await bench.build(DAILY, SAME)
  const after = text.replace(/[^ ]+$/, 'something else')
  const changed = described(file, text, after)
  bench.events.splice(0)
  const second = await bench.build(changed, SAME)

  const comments = new Map((await bench.rows(COMMENTS)).map((row) => [row['name'], row['comment']]))
  expect(comments.get(name)).toContain('something else')
  const fresh = await Bench.open()
  await serve(fresh, [['a', '2026-01-14', 'u1', 1, 'v1']])
  await fresh.build(changed, SAME)
  expect(await bench.rows(COMMENTS)).toEqual(await fresh.rows(COMMENTS))

  expect(first.models.map((model) => model.name)).toEqual(second.models.map((model) => model.name))
  expect(bench.events).toContainEqual(
    expect.objectContaining({ type: 'model.built', model: 'fct_user_day', intervals: 0 }),
  )
  expect(bench.events.map(({ type }) => type)).toContain('warehouse.published')
  bench.events.splice(0)
  await bench.build(changed, SAME)
  expect(bench.events.map(({ type }) => type)).toContain('warehouse.unchanged')
})
