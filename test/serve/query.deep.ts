import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { UsageError } from '../../src/lib/errors.ts'
import { formatJson } from '../../src/serve/format.ts'
import { query } from '../../src/serve/query.ts'
import { temporaryFolder } from '../support/helpers.ts'
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
  test('returns columns, types and rows', async () => {
    const { path } = await warehouseOf(SESSIONS)
    const table = await query(path, 'select activity_date, sessions from fct_org_day;')
    expect({ ...table, rows: table.rows.map((row) => row.map(String)) }).toEqual({
      columns: ['activity_date', 'sessions'],
      types: ['DATE', 'BIGINT'],
      rows: [['2026-01-14', '12']],
    })
  })

  test('a missing warehouse is reported with the command that makes one', async () => {
    const path = join(await temporaryFolder(), 'warehouse.duckdb')
    const error = await refusal(path, 'select 1')
    expect(error.message).toBe(`there is no published warehouse at ${path}`)
    expect(error.hint).toContain('`agent-warehouse run`')
    expect(error.hint).toContain('`agent-warehouse demo`')
  })

  test('a file that is not a database is reported as such', async () => {
    const path = join(await temporaryFolder(), 'warehouse.duckdb')
    await writeFile(path, 'not a database, but long enough to be looked at'.repeat(500))
    const error = await refusal(path, 'select 1')
    expect(error.message).toContain('not a valid DuckDB database file')
  })

  test('an error is one line with DuckDB’s candidates and without its pointer', async () => {
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
    'create temp table more as select 1',
    "create secret s (type s3, key_id 'x')",
    'create macro m() as 1',
    'alter table fct_org_day add column n int',
    "comment on table fct_org_day is 'x'",
    "copy fct_org_day to '<folder>/lake/base/leak.csv'",
    "/* x */ copy (select 1) to '<folder>/lake/base/leak.csv'",
    "/* /* */ */ copy (select 1) to '<folder>/lake/base/leak.csv'",
    "/* /* */ explain select 1 */ copy (select 1) to '<folder>/lake/base/leak.csv'",
    "-- x\rcopy (select 1) to '<folder>/lake/base/leak.csv'",
    "explain copy fct_org_day to '<folder>/lake/base/leak.csv'",
    "explain analyze copy fct_org_day to '<folder>/lake/base/leak.csv'",
    "explain (analyze) copy fct_org_day to '<folder>/lake/base/leak.csv'",
    "EXPLAIN /* a /* b */ */ (ANALYZE, FORMAT json) -- c\n copy fct_org_day to '<folder>/lake/base/leak.csv'",
    "explain analyze (analyze) copy fct_org_day to '<folder>/lake/base/leak.csv'",
    'explain analyze insert into fct_org_day select * from fct_org_day',
    'explain (analyze) delete from fct_org_day',
    "attach '<folder>/leak.csv'",
    "attach '<folder>/lake/base/leak.csv' as leak",
    "export database '<folder>/lake/base/leak.csv'",
    "import database '<folder>/lake/base'",
    'set enable_external_access = true',
    "set log_query_path = '<folder>/lake/base/leak.csv'",
    "set global log_query_path = '<folder>/lake/base/leak.csv'",
    'reset lock_configuration',
    'set variable x = 1',
    'pragma enable_logging',
    "pragma add_parquet_key('k', '0123456789112345')",
    'pragma version',
    'load httpfs',
    'install httpfs',
    'use memory',
    'call pragma_version()',
    "call enable_logging('QueryLog', storage = 'file', storage_path = '<folder>/lake/base')",
    'checkpoint',
    'vacuum',
    'begin transaction',
    'prepare p as select 1',
    'execute p',
    'deallocate p',
  ])('a statement that is not a SELECT or its EXPLAIN is refused: %s', async (sql) => {
    const { path, folder } = await warehouseOf(SESSIONS)
    const base = join(folder, 'lake', 'base')
    await mkdir(base, { recursive: true })
    const error = await refusal(path, sql.replace('<folder>', folder))
    expect(error.message).toMatch(/neither a SELECT nor an EXPLAIN of one|Parser Error/)
    expect(await readdir(base)).toEqual([])
    expect(existsSync(join(folder, 'leak.csv'))).toBe(false)
    expect((await query(path, 'from fct_org_day')).rows).toHaveLength(1)
  })

  test.each([
    "from read_csv('<folder>/leak.csv')",
    "from read_text('/etc/passwd')",
    "select content from READ_TEXT('/proc/self/environ')",
    "from glob('/etc/*')",
    "from parquet_metadata('<folder>/lake/base/x.parquet')",
    "from enable_logging('QueryLog', storage = 'file', storage_path = '<folder>/lake/base')",
    "select (select count(*) from system.main.enable_logging(storage_path = '<folder>/lake/base'))",
    'with x as (from "enable_profiling"(save_location = \'<folder>/lake/base/x.txt\')) select 1',
    "explain analyze from enable_logging(storage = 'file', storage_path = '<folder>/lake/base')",
    "from query('from enable_logging(storage_path = ''<folder>/lake/base'')')",
    "from json_execute_serialized_sql(json_serialize_sql('from checkpoint()'))",
    'from force_checkpoint()',
  ])('a function that reads files or changes the engine is refused: %s', async (sql) => {
    const { path, folder } = await warehouseOf(SESSIONS)
    const base = join(folder, 'lake', 'base')
    await mkdir(base, { recursive: true })
    const error = await refusal(path, sql.replace('<folder>', folder))
    expect(error.message).toContain('the query may read the published warehouse only')
    expect(await readdir(base)).toEqual([])
  })

  test('a view reads its base files, and no other file can be read', async () => {
    const { path, folder } = await warehouseOf(SESSIONS)
    const base = join(folder, 'lake', 'base')
    await mkdir(base, { recursive: true })
    await writeFile(join(folder, 'other.csv'), 'n\n7\n')
    await writeFile(join(base, 'x.csv'), 'n\n7\n')
    await rm(path)
    await writeWarehouse(path, `create view stg_x as from read_csv('${join(base, 'x.csv')}')`)
    expect((await query(path, 'from stg_x')).rows).toEqual([[7n]])
    const error = await refusal(path, `from '${join(folder, 'other.csv')}'`)
    expect(error.message).toContain('the query may read the published warehouse only')
  })

  test.each([
    'explain select 1',
    '/* a /* b */ */ explain -- c\n select 1',
    'explain analyze from fct_org_day',
    'EXPLAIN (ANALYZE, FORMAT json) from fct_org_day;',
    'explain (select sessions from fct_org_day)',
  ])('explains a SELECT: %s', async (sql) => {
    const { path } = await warehouseOf(SESSIONS)
    const { columns, rows } = await query(path, sql)
    expect(columns).toEqual(['explain_key', 'explain_value'])
    expect(rows).toHaveLength(1)
  })

  test.each([
    'with recursive n(i) as (select 1 union all select i + 1 from n where i < 3) from n',
    'from fct_org_day select org_id, sum(sessions) over () qualify true',
    'describe fct_org_day',
    'summarize fct_org_day',
    'show all tables',
    'show tables',
    'table fct_org_day',
    'values (1)',
    'from fct_org_day union by name select 1 as n',
    'unpivot fct_org_day on sessions into name n value v',
    'from range(3) r(i), lateral (select i + 1)',
    'select j.key from json_each(\'{"a": 1}\') j',
    'from duckdb_tables()',
    "from pragma_table_info('fct_org_day')",
    'from information_schema.tables',
  ])('every kind of SELECT works: %s', async (sql) => {
    const { path } = await warehouseOf(SESSIONS)
    expect((await query(path, sql)).columns).not.toEqual([])
  })

  test.each([
    ['select 1; select 2', 'has 2 statements'],
    ['', 'has no statement'],
    [' ; -- only a comment', 'has no statement'],
  ])('text that is not exactly one statement is refused: %j', async (sql, told) => {
    const { path } = await warehouseOf(SESSIONS)
    expect((await refusal(path, sql)).message).toContain(told)
  })

  test.each([
    ["select 'a;b' as x", 'a;b'],
    ["select e'it\\'s; fine' as x", "it's; fine"],
    ['select $tag$ ; $tag$ as x', ' ; '],
    ['select x /* ; */ from (select 7 as x) -- ; last', 7],
    ['select "a;b" as x from (select 8 as "a;b");;', 8],
    ["pivot (values ('x', 9)) as t(a, b) on a in ('x') using max(b)", 9],
    ['select 1 as x /* /* */ ; */', 1],
  ])('a semicolon ends a statement only where it stands bare: %s', async (sql, answer) => {
    const { path } = await warehouseOf(SESSIONS)
    expect((await query(path, sql)).rows).toEqual([[answer]])
  })

  test('a PIVOT without named values is refused with advice on naming them', async () => {
    const { path } = await warehouseOf(SESSIONS)
    const error = await refusal(path, 'pivot fct_org_day on org_id using sum(sessions)')
    expect(error.hint).toContain('`pivot t on x in (…)`')
  })

  test('works while new warehouses are renamed into place', async () => {
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
    expect((await query(path, 'select sessions from fct_org_day')).rows).toEqual([[22n]])
  })
})
