import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { UsageError } from '../../src/lib/errors.ts'
import type { RunEvent } from '../../src/lib/events.ts'
import { keyColumns } from '../../src/model/project/properties.ts'
import { listModels } from '../../src/model/project/compile.ts'
import { grainOf } from '../../src/serve/tables.ts'
import { exportTables, type ExportManifest } from '../../src/serve/export/export.ts'
import type { ExportTarget } from '../../src/serve/export/files.ts'
import { Database, literal } from '../../src/lib/duckdb.ts'
import { project } from '../model/alone.ts'
import { ask, warehouseOf, writeWarehouse } from './support.ts'

const MARTS = `
  create table fct_user_day as
  select
      'org' as org_id, date '2026-01-14' + i::int as activity_date, name as user_id,
      9007199254740993::bigint + i as billable_tokens, i / 3 as ratio,
      timestamptz '2026-01-14 01:02:03.25+00' as fetched_at, i % 2 = 0 as is_even
  from (values
      (5, '=cmd'), (4, 'comma, "quoted"'), (3, chr(9) || '=1'), (2, null), (1, ''), (0, 'é日本')
  ) as t(i, name);
  create table dim_empty (id varchar, day date, n bigint);
  create table huge as select sum(n) as total from (values (9223372036854775807), (2)) as t(n);
  create view mart_view as select 1::bigint as one;
  create schema staging;
  create table staging.stg_users as select 1 as one;
  create schema meta;
  create table meta.build as
  select 'run-2' as run_id, timestamptz '2026-01-16 00:00:00+00' as built_at,
    cast(null as timestamptz) as as_of`

const CREATED = Date.parse('2026-01-16T03:04:05.678Z')

interface Exporter {
  readonly folder: string
  readonly path: string
  readonly events: RunEvent[]
  readonly run: (target: ExportTarget) => Promise<ExportManifest>
}

async function exporter(sql = MARTS): Promise<Exporter> {
  const { folder, path } = await warehouseOf(sql)
  const events: RunEvent[] = []
  const exports = join(folder, 'exports')
  const run: Exporter['run'] = (target) =>
    exportTables({
      warehouse: path,
      target,
      folder: exports,
      runId: 'run-3',
      now: () => CREATED,
      emit: (event) => events.push(event),
      signal: new AbortController().signal,
    })
  return { folder: exports, path, events, run }
}

/** `<main>` in the statement stands for the schema of the warehouse. */
async function rowsIn(path: string, sql: string): Promise<unknown> {
  const database = await Database.open(':memory:')
  try {
    await database.run(`attach ${literal(path)} as warehouse (read_only)`)
    return (await database.table(sql.replaceAll('<main>', 'warehouse.main'))).rows
  } finally {
    database.close()
  }
}

describe('export', () => {
  test('writes every table and view of the schema, and nothing else', async () => {
    const { folder, run, events } = await exporter()
    const manifest = await run('parquet')
    const names = ['dim_empty', 'fct_user_day', 'huge', 'mart_view']
    expect(manifest.tables.map((table) => table.name)).toEqual(names)
    expect((await readdir(join(folder, 'parquet'))).sort()).toEqual(
      [...names.map((name) => `${name}.parquet`), 'manifest.json'].sort(),
    )
    const path = join(folder, 'parquet')
    expect(events).toEqual([
      { type: 'export.finished', target: 'parquet', path, tables: 4, rows: 8 },
    ])
  })

  test('Parquet that is read again equals the table, with types and order', async () => {
    const { folder, path, run } = await exporter()
    await run('parquet')
    const file = `'${join(folder, 'parquet', 'fct_user_day.parquet')}'`
    expect(await rowsIn(path, `from ${file}`)).toEqual(
      await rowsIn(path, 'from <main>.fct_user_day'),
    )
    const types = (await ask(`from ${file}`)).types
    expect(types).toEqual([
      'VARCHAR',
      'DATE',
      'VARCHAR',
      'BIGINT',
      'DOUBLE',
      'TIMESTAMP WITH TIME ZONE',
      'BOOLEAN',
    ])
  })

  test('Parquet keeps a sum of more than 64 bits exact', async () => {
    const { folder, run } = await exporter()
    await run('parquet')
    const table = await ask(`from '${join(folder, 'parquet', 'huge.parquet')}'`)
    expect(String(table.rows)).toBe('9223372036854775809')
  })

  test('CSV that is read again equals the table, except the apostrophe before formulas', async () => {
    const { folder, path, run } = await exporter()
    await run('csv')
    const file = join(folder, 'csv', 'fct_user_day.csv')
    const types = `{'org_id': 'varchar', 'activity_date': 'date', 'user_id': 'varchar',
      'billable_tokens': 'bigint', 'ratio': 'double', 'fetched_at': 'timestamptz', 'is_even': 'boolean'}`
    const read = `from read_csv('${file}', columns = ${types}, header = true, allow_quoted_nulls = false)`
    const expected = `
      select * replace (case when user_id in ('=cmd', chr(9) || '=1') then '''' || user_id else user_id end as user_id)
      from <main>.fct_user_day`
    expect(await rowsIn(path, read)).toEqual(await rowsIn(path, expected))
  })

  test('CSV is UTF-8 with a byte order mark, ISO dates, empty NULL and quoted empty text', async () => {
    const { folder, run } = await exporter()
    await run('csv')
    const lines = (await readFile(join(folder, 'csv', 'fct_user_day.csv'), 'utf8')).split('\n')
    expect(lines[0]).toBe(
      '\ufefforg_id,activity_date,user_id,billable_tokens,ratio,fetched_at,is_even',
    )
    expect(lines[1]).toMatch(
      /^org,2026-01-19,'=cmd,9007199254740998,1\.66\d*,2026-01-14T01:02:03\.250000Z,false$/,
    )
    expect(lines[2]).toContain(',"comma, ""quoted""",')
    expect(lines[4]).toContain(',2026-01-16,,9007199254740995,')
    expect(lines[5]).toContain(',2026-01-15,"",9007199254740994,')
    expect(lines[6]).toContain(',é日本,')
  })

  test('an empty table has a header and no rows', async () => {
    const { folder, run } = await exporter()
    await run('csv')
    await run('parquet')
    expect(await readFile(join(folder, 'csv', 'dim_empty.csv'), 'utf8')).toBe('\ufeffid,day,n\n')
    const table = await ask(`from '${join(folder, 'parquet', 'dim_empty.parquet')}'`)
    expect(table).toEqual({
      columns: ['id', 'day', 'n'],
      types: ['VARCHAR', 'DATE', 'BIGINT'],
      rows: [],
    })
  })

  test.each(['csv', 'parquet'] as const)(
    'the checksums in the manifest of %s are correct',
    async (target) => {
      const { folder, run } = await exporter()
      const manifest = await run(target)
      const text = await readFile(join(folder, target, 'manifest.json'), 'utf8')
      expect(JSON.parse(text)).toEqual(manifest)
      expect(manifest).toMatchObject({
        created_at: '2026-01-16T03:04:05.678Z',
        run_id: 'run-3',
        warehouse_run_id: 'run-2',
        target,
      })
      expect(manifest.tables[1]).toMatchObject({
        name: 'fct_user_day',
        file: `fct_user_day.${target}`,
        rows: 6,
      })
      expect(manifest.tables[0]?.columns).toMatchObject([
        { name: 'id', type: 'VARCHAR' },
        { name: 'day', type: 'DATE' },
        { name: 'n', type: 'BIGINT' },
      ])
      for (const { file, bytes, sha256 } of manifest.tables) {
        const content = await readFile(join(folder, target, file))
        expect(content.length).toBe(bytes)
        expect(createHash('sha256').update(content).digest('hex')).toBe(sha256)
      }
    },
  )

  test('a second export gives the same files, and removes that of a dropped table', async () => {
    const { folder, path, run } = await exporter()
    const first = await run('csv')
    expect(await run('csv')).toEqual(first)
    await writeWarehouse(path, 'drop table huge')
    await run('csv')
    expect((await readdir(join(folder, 'csv'))).sort()).toEqual([
      'dim_empty.csv',
      'fct_user_day.csv',
      'manifest.json',
      'mart_view.csv',
    ])
    expect(await readdir(folder)).toEqual(['csv'])
  })

  test('the run is null in a warehouse that does not say, and one without marts is refused', async () => {
    const { run } = await exporter('create table t as select 1 as n')
    expect((await run('csv')).warehouse_run_id).toBeNull()
    const empty = await exporter('create schema meta')
    await expect(empty.run('csv')).rejects.toBeInstanceOf(UsageError)
  })
})

/** What is said of a mart, as a build says it. */
const DESCRIBED = `${MARTS};
  comment on table fct_user_day is 'One row per org, day and user: what the platform serves.';
  comment on column fct_user_day.billable_tokens is 'Credits. NULL: not served.';
  comment on view mart_view is 'One row per nothing. A view.';
  create view staging.stg_tokens as select * from staging.stg_users;
  create table meta.columns as select * from (values
      ('main', 'fct_user_day', 'user_id', 'Who.', null, 2),
      ('main', 'fct_user_day', 'org_id', 'Where.', null, 1),
      ('main', 'fct_user_day', 'billable_tokens', 'Credits.', 'sum', null),
      ('staging', 'stg_users', 'one', 'One.', null, null)
  ) as t(table_schema, table_name, column_name, description, additivity, key_position);
  create table meta.check_results (check_name varchar, query varchar)`

describe('the manifest', () => {
  test.each(['parquet', 'csv', 'duckdb'] as const)(
    'of %s describes tables and columns, grain, key, unit and additivity',
    async (target) => {
      const { run } = await exporter(DESCRIBED)
      const { tables } = await run(target)
      const mart = tables.find(({ name }) => name === 'fct_user_day')
      expect(mart).toMatchObject({
        description: 'One row per org, day and user: what the platform serves.',
        grain: 'org, day and user',
        key: ['org_id', 'user_id'],
        rows: 6,
      })
      expect(mart?.columns.find(({ name }) => name === 'billable_tokens')).toEqual({
        name: 'billable_tokens',
        type: 'BIGINT',
        unit: 'credits',
        description: 'Credits. NULL: not served.',
        additivity: 'sum',
      })
      const bare = tables.find(({ name }) => name === 'dim_empty')
      expect(bare).toMatchObject({ description: null, grain: null, key: [] })
    },
  )
})

test('every mart of the project has a grain and a key', () => {
  const marts = listModels(project).filter(({ schema }) => schema === 'main')
  expect(marts.length).toBeGreaterThan(40)
  const silent = marts.filter(
    (mart) => grainOf(mart.description) === null || keyColumns(mart).length === 0,
  )
  expect(silent.map(({ name }) => name)).toEqual([])
})

describe('export duckdb', () => {
  test('writes marts and meta as tables of one file, with comments and without views', async () => {
    const { folder, path, run } = await exporter(DESCRIBED)
    const { tables } = await run('duckdb')
    const file = join(folder, 'duckdb', 'warehouse.duckdb')
    expect((await readdir(join(folder, 'duckdb'))).sort()).toEqual([
      'manifest.json',
      'warehouse.duckdb',
    ])
    const database = await Database.open(file, { readOnly: true })
    const relations = await database.rows(
      `select table_schema || '.' || table_name as name, table_type as type
      from information_schema.tables order by 1`,
    )
    const comments = await database.rows(
      `select comment from duckdb_columns() where comment is not null and not internal
      union all select comment from duckdb_tables() where comment is not null order by 1`,
    )
    const columns = await database.rows('select distinct table_name from meta.columns')
    database.close()
    expect(relations).toEqual(
      [
        ...['main.dim_empty', 'main.fct_user_day', 'main.huge', 'main.mart_view'],
        ...['meta.build', 'meta.check_results', 'meta.columns'],
      ].map((name) => ({ name, type: 'BASE TABLE' })),
    )
    expect(tables.map(({ schema, name }) => `${schema}.${name}`)).toEqual(
      relations.map(({ name }) => name),
    )
    expect(comments.map(({ comment }) => comment)).toEqual([
      'Credits. NULL: not served.',
      'One row per nothing. A view.',
      'One row per org, day and user: what the platform serves.',
    ])
    expect(columns).toEqual([{ table_name: 'fct_user_day' }])
    expect(await rowsIn(file, 'from <main>.fct_user_day')).toEqual(
      await rowsIn(path, 'from <main>.fct_user_day'),
    )
  })

  test('contains no path of the machine', async () => {
    const { folder, path, run } = await exporter(DESCRIBED)
    const data = dirname(path)
    await writeWarehouse(
      path,
      `insert into meta.check_results values ('seed', 'from ''${data}/seeds/teams.csv''')`,
    )
    await run('duckdb')
    const file = join(folder, 'duckdb', 'warehouse.duckdb')
    for (const each of [file, join(folder, 'duckdb', 'manifest.json')]) {
      expect((await readFile(each)).includes(data)).toBe(false)
    }
    const database = await Database.open(file, { readOnly: true })
    const rows = await database.rows('select query from meta.check_results')
    database.close()
    expect(rows).toEqual([{ query: "from '<data>/seeds/teams.csv'" }])
  })

  test('has the storage version of DuckDB 1.0, and replaces the last file as a whole', async () => {
    const { folder, path, run } = await exporter(DESCRIBED)
    await run('duckdb')
    await writeWarehouse(path, 'drop table huge')
    const { tables } = await run('duckdb')
    expect(tables.map(({ name }) => name)).not.toContain('huge')
    expect(await readdir(folder)).toEqual(['duckdb'])
    const database = await Database.open(':memory:')
    const file = literal(join(folder, 'duckdb', 'warehouse.duckdb'))
    await database.run(`attach ${file} as export (read_only)`)
    const [row] = await database.rows(
      `select tags['storage_version'] as version from duckdb_databases()
      where database_name = 'export'`,
    )
    database.close()
    expect(row?.['version']).toMatch(/^v1\.0\.0/)
  })
})

describe('a killed export', () => {
  test('that left a half-written folder is cleaned up by the next', async () => {
    const { folder, run } = await exporter()
    await run('csv')
    await mkdir(join(folder, '.0123abcd-csv.part'))
    await writeFile(join(folder, '.0123abcd-csv.part', 'fct_user_day.csv'), 'half')
    await run('csv')
    expect(await readdir(folder)).toEqual(['csv'])
  })

  test('that died between the two renames is repaired even if the next export fails', async () => {
    const { folder, path, run } = await exporter()
    const before = await run('csv')
    await rename(join(folder, 'csv'), join(folder, '.previous-csv'))
    await mkdir(join(folder, '.0123abcd-csv.part'))
    await writeWarehouse(path, `create view a_broken_one as select error('no rows today') as n`)
    await expect(run('csv')).rejects.toThrow('a_broken_one cannot be written')
    expect(JSON.parse(await readFile(join(folder, 'csv', 'manifest.json'), 'utf8'))).toEqual(before)
    expect(await readdir(folder)).toEqual(['csv'])
  })

  test('that died before deleting the old folder is repaired', async () => {
    const { folder, run } = await exporter()
    await run('csv')
    await mkdir(join(folder, '.previous-csv'))
    await writeFile(join(folder, '.previous-csv', 'old.csv'), 'old')
    await run('csv')
    expect(await readdir(folder)).toEqual(['csv'])
  })

  test('never deletes a folder that no export wrote', async () => {
    const { folder, run } = await exporter()
    await mkdir(join(folder, 'csv'), { recursive: true })
    await writeFile(join(folder, 'csv', 'budget.csv'), 'mine')
    await expect(run('csv')).rejects.toThrow('contains files but no manifest.json')
    expect(existsSync(join(folder, 'csv', 'budget.csv'))).toBe(true)
  })

  test('can be repeated into an empty folder', async () => {
    const { folder, run } = await exporter()
    await mkdir(join(folder, 'csv'), { recursive: true })
    await run('csv')
    expect(await readdir(folder)).toEqual(['csv'])
  })
})
