import { existsSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { UsageError } from '../../src/core/errors.ts'
import { formatJson } from '../../src/serve/format.ts'
import { query } from '../../src/serve/query.ts'
import { temporaryFolder } from '../helpers.ts'
import { warehouseOf, writeWarehouse } from './support.ts'

const SESSIONS = `
  create table fct_org_day as
  select 'org' as org_id, date '2026-01-14' as activity_date, 12::bigint as sessions`

async function refusal(path: string, sql: string): Promise<UsageError> {
  const error = await query(path, sql).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (error instanceof UsageError) return error
  throw new Error(`no UsageError for: ${sql}`)
}

describe('query', () => {
  test('answers a statement with columns, types and rows', async () => {
    const { path } = await warehouseOf(SESSIONS)
    const table = await query(path, 'select activity_date, sessions from fct_org_day;')
    expect(table).toEqual({
      columns: ['activity_date', 'sessions'],
      types: ['DATE', 'BIGINT'],
      rows: [['2026-01-14', '12']],
    })
  })

  test('a missing warehouse is told with the command that makes one', async () => {
    const path = join(await temporaryFolder(), 'warehouse.duckdb')
    const error = await refusal(path, 'select 1')
    expect(error.message).toBe(`there is no published warehouse at ${path}`)
    expect(error.hint).toContain('`agent-warehouse run`')
    expect(error.hint).toContain('`agent-warehouse demo`')
  })

  test('a file that is no database is told as such', async () => {
    const path = join(await temporaryFolder(), 'warehouse.duckdb')
    await writeFile(path, 'not a database, but long enough to be looked at'.repeat(500))
    const error = await refusal(path, 'select 1')
    expect(error.message).toContain('not a valid DuckDB database file')
  })

  test("an error comes in one line with DuckDB's candidates and without the picture", async () => {
    const { path } = await warehouseOf(SESSIONS)
    const error = await refusal(path, 'select session\nfrom fct_org_day')
    expect(error.message).toBe(
      'Binder Error: Referenced column "session" not found in FROM clause! ' +
        'Candidate bindings: "sessions"',
    )
  })

  test.each([
    "insert into fct_org_day values ('x', null, 1)",
    'update fct_org_day set sessions = 0',
    'delete from fct_org_day',
    'drop table fct_org_day',
    'create table more (n int)',
    'alter table fct_org_day add column n int',
  ])('a statement that writes is refused as read-only: %s', async (sql) => {
    const { path } = await warehouseOf(SESSIONS)
    const error = await refusal(path, sql)
    expect(error.message).toContain('the published warehouse is read-only')
    expect((await query(path, 'from fct_org_day')).rows).toHaveLength(1)
  })

  test.each([
    "copy fct_org_day to '<folder>/leak.csv'",
    "explain analyze copy fct_org_day to '<folder>/leak.csv'",
    "/* x */ copy (select 1) to '<folder>/lake/base/leak.csv'",
    "attach '<folder>/leak.csv'",
    "export database '<folder>/leak.csv'",
    "from read_csv('<folder>/leak.csv')",
    'set enable_external_access = true',
    'load httpfs',
  ])('nothing beside the warehouse is reached: %s', async (sql) => {
    const { path, folder } = await warehouseOf(SESSIONS)
    const error = await refusal(path, sql.replace('<folder>', folder))
    expect(error.message).toContain('the query may read the published warehouse only')
    expect(existsSync(join(folder, 'leak.csv'))).toBe(false)
  })

  test.each([
    ['select 1; select 2', 'has 2 statements'],
    ['', 'has no statement'],
    [' ; -- only a comment', 'has no statement'],
  ])('a text that is not one statement is refused: %j', async (sql, told) => {
    const { path } = await warehouseOf(SESSIONS)
    expect((await refusal(path, sql)).message).toContain(told)
  })

  test.each([
    ["select 'a;b' as x", 'a;b'],
    ["select e'it\\'s; fine' as x", "it's; fine"],
    ['select $tag$ ; $tag$ as x', ' ; '],
    ['select x /* ; */ from (select 7 as x) -- ; last', 7],
    ['select "a;b" as x from (select 8 as "a;b");;', 8],
    ["pivot (values ('x', 9)) as t(a, b) on a using max(b)", 9],
  ])('a semicolon ends a statement only where it stands bare: %s', async (sql, answer) => {
    const { path } = await warehouseOf(SESSIONS)
    expect((await query(path, sql)).rows).toEqual([[answer]])
  })

  test('answers while new warehouses are renamed into place', async () => {
    const { path, folder } = await warehouseOf(SESSIONS)
    const publish = async (): Promise<void> => {
      for (let version = 1; version <= 10; version += 1) {
        const next = join(folder, `next-${version}.duckdb`)
        await writeWarehouse(next, SESSIONS.replace('12::', `${12 + version}::`))
        await rename(next, path)
      }
    }
    const publishing = publish()
    const seen: number[] = []
    while (seen.length < 20) {
      const text = formatJson(await query(path, 'select max(sessions) as n from fct_org_day'))
      seen.push(Number(/\d+/.exec(text)?.[0]))
    }
    await publishing
    expect(seen).toEqual([...seen].sort((a, b) => a - b))
    expect((await query(path, 'select sessions from fct_org_day')).rows).toEqual([['22']])
  })
})
