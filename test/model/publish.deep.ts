import { readdirSync } from 'node:fs'
import { open, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ChecksFailedError, DeferredError, UsageError } from '../../src/lib/errors.ts'
import type { RunEvent } from '../../src/lib/events.ts'
import { Database } from '../../src/lib/duckdb.ts'
import { sha256OfFile } from '../../src/lib/files.ts'
import { Bench, TINY, type Files } from './fixture.ts'

const MART = TINY['models/marts/fct_user.yml'] ?? ''

/** The tiny project with one more test of the fact's sessions. */
function withTest(test: string): Files {
  const yml = MART.replace(
    '        config:\n',
    `        data_tests:\n          - ${test}\n        config:\n`,
  )
  return { ...TINY, 'models/marts/fct_user.yml': yml }
}

const FEW = (severity: string) =>
  `accepted_values: {arguments: {values: [3, 5]}, config: {severity: ${severity}}}`

async function failure(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => {
      throw new Error('it did not fail')
    },
    (error: unknown) => error,
  )
}

const NOT_PUBLISHED = 'Nothing was published; if there is an earlier warehouse, it stays in place.'
const retry = (path: string): string =>
  `The failed file is ${path}. After fixing the cause, agent-warehouse build --retry continues from it.`

describe('the error of a statement that DuckDB refuses', () => {
  const refused: [string, Files][] = [
    ['model', { ...TINY, 'models/marts/fct_user.sql': 'select * from no_such_table' }],
    ['check', { ...TINY, 'tests/wrong.sql': 'select * from no_such_table' }],
  ]
  it.each(refused)('says what to do next: a %s', async (_, files) => {
    const bench = await Bench.open()
    expect(await failure(bench.build(files))).toMatchObject({ hint: NOT_PUBLISHED })
    const failedFile = { path: join(bench.data, 'failed', 'warehouse.duckdb'), sources: '' }
    expect(await failure(bench.build(files, { failedFile }))).toMatchObject({
      hint: `${NOT_PUBLISHED} ${retry(failedFile.path)}`,
    })
  })

  it('says that nothing was published: the freshness of a source', async () => {
    const bench = await Bench.open()
    const sources = `${TINY['models/staging/_sources.yml'] ?? ''}        config: {loaded_at_field: loaded, freshness: {warn_after: {count: 1, period: day}}}
`
    const error = await failure(bench.build({ ...TINY, 'models/staging/_sources.yml': sources }))
    expect(error).toMatchObject({ hint: NOT_PUBLISHED })
  })
})

it('publishing leaves the published file without a log or temporary file', async () => {
  const bench = await Bench.open()
  await bench.build(TINY)
  expect(await readdir(bench.data)).toEqual(['state', 'users.parquet', 'warehouse.duckdb'])
  const content = await readFile(bench.target)
  const bytes = content.byteLength
  expect(bench.events.at(-1)).toEqual({ type: 'warehouse.published', path: bench.target, bytes })
})

it('publishing writes the storage format that DuckDB 1.0 reads', async () => {
  const bench = await Bench.open()
  await bench.build(TINY)
  const content = await readFile(bench.target)
  expect(content.subarray(8, 12).toString()).toBe('DUCK')
  expect(content.readBigUInt64LE(12)).toBe(64n)
  // a key in the format of a newer DuckDB could not be read by 1.0
  expect(await bench.rows('select * from duckdb_constraints()')).toEqual([])
})

describe('law 7: a failed check', () => {
  it('of severity error leaves the published file unchanged to the byte', async () => {
    const bench = await Bench.open()
    await bench.build(TINY)
    const before = await sha256OfFile(bench.target)
    const error = await failure(bench.build(withTest(FEW('error')), { runId: 'run-2' }))
    expect(error).toBeInstanceOf(ChecksFailedError)
    expect(error).toMatchObject({
      exitCode: 6,
      message: 'a check failed: accepted_values_fct_user_sessions (1 row)',
    })
    expect(await sha256OfFile(bench.target)).toBe(before)
    expect(await readdir(bench.data)).toEqual(['state', 'users.parquet', 'warehouse.duckdb'])
    expect(bench.events.filter(({ type }) => type === 'warehouse.published')).toHaveLength(1)
  })

  it('is reported with its query, and at most three are', async () => {
    const bench = await Bench.open()
    const never = 'select 1 as wrong union all select 2'
    const error = await failure(
      bench.build({
        ...TINY,
        'tests/a.sql': never,
        'tests/b.sql': never,
        'tests/c.sql': never,
        'tests/d.sql': never,
      }),
    )
    expect(error).toMatchObject({
      message: '4 checks failed: a (2 rows), b (2 rows), c (2 rows), and 1 more',
      hint: expect.stringContaining(
        `-- a: 2 rows\n--   {"wrong":1}\n--   {"wrong":2}\n${never};\n-- b: 2 rows\n`,
      ) as string,
    })
  })

  it('leaves the failed file in its place, with the wrong rows', async () => {
    const bench = await Bench.open()
    const failedFile = join(bench.data, 'failed', 'warehouse.duckdb')
    const error = await failure(
      bench.build(withTest(FEW('error')), { failedFile: { path: failedFile, sources: '' } }),
    )
    const table = 'dbt_test__audit.accepted_values_fct_user_sessions'
    expect(error).toMatchObject({
      hint: expect.stringContaining(`${NOT_PUBLISHED} ${retry(failedFile)}`) as string,
    })
    const rows = `-- accepted_values_fct_user_sessions: 1 row, in ${table} of that file
--   {"sessions":"0","row_count":"1"}`
    expect(error).toMatchObject({ hint: expect.stringMatching(/"row_count":"1"\}$/) as string })
    expect(error).toMatchObject({ hint: expect.stringContaining(rows) as string })
    const failed = await Database.open(failedFile, { readOnly: true })
    expect(await failed.rows(`from ${table}`)).toEqual([{ sessions: '0', row_count: '1' }])
    expect(
      await failed.rows(`select check_name from meta.check_results where status = 'fail'`),
    ).toHaveLength(1)
    failed.close()
    await bench.build(TINY, { failedFile: { path: failedFile, sources: '' } })
    expect(await readdir(join(bench.data, 'failed'))).toEqual([])
  })

  it('is reported also if the failed file cannot be kept', async () => {
    const bench = await Bench.open()
    const folder = join(bench.data, 'failed')
    await writeFile(folder, 'no folder')
    const failedFile = { path: join(folder, 'warehouse.duckdb'), sources: '' }
    const error = await failure(bench.build(withTest(FEW('error')), { failedFile }))
    expect(error).toMatchObject({
      exitCode: 6,
      message: 'a check failed: accepted_values_fct_user_sessions (1 row)',
      hint: expect.stringMatching(/^Nothing was published; [^.]*\.\nThe failing rows:\n/) as string,
    })
    expect(bench.warnings).toEqual([
      expect.stringMatching(/^the failed file could not be kept: E/) as string,
    ])
    expect(await readdir(bench.data)).toEqual(['failed', 'state', 'users.parquet'])
  })

  it('of severity warn is recorded and published', async () => {
    const bench = await Bench.open()
    await bench.build(withTest(FEW('warn')))
    expect(
      await bench.rows(
        `select run_id, model, column_name, severity, status, failures, checked_at
        from meta.check_results where check_name = 'accepted_values_fct_user_sessions'`,
      ),
    ).toEqual([
      {
        run_id: 'run-1',
        model: 'fct_user',
        column_name: 'sessions',
        severity: 'warn',
        status: 'warn',
        failures: '1',
        checked_at: expect.stringMatching(/^2026-01-31 02:00:00.\d+\+00$/) as string,
      },
    ])
  })
})

it('meta.check_results has the query of a check, which shows the wrong rows', async () => {
  const bench = await Bench.open()
  await bench.build(withTest(FEW('warn')))
  const [row] = await bench.rows(`select query from meta.check_results where status = 'warn'`)
  const query = row?.['query']
  expect(await bench.rows(typeof query === 'string' ? query : '')).toHaveLength(1)
})

it('meta.columns lists every column with its type, meaning, additivity, key and position', async () => {
  const bench = await Bench.open()
  await bench.build(TINY)
  expect(await bench.rows(`select * from meta.columns where table_schema = 'main'`)).toEqual([
    {
      table_schema: 'main',
      table_name: 'fct_user',
      column_name: 'user_id',
      data_type: 'VARCHAR',
      description: "The user's id.",
      additivity: null,
      key_position: '1',
      ordinal: '1',
    },
    {
      table_schema: 'main',
      table_name: 'fct_user',
      column_name: 'sessions',
      data_type: 'BIGINT',
      description: 'Sessions of the user.',
      additivity: 'sum',
      key_position: null,
      ordinal: '2',
    },
  ])
  expect(
    await bench.rows(
      `select table_schema, table_name, count(*) as columns from meta.columns group by 1, 2 order by 1, 2`,
    ),
  ).toEqual([
    { table_schema: 'main', table_name: 'fct_user', columns: '2' },
    { table_schema: 'meta', table_name: 'check_results', columns: '9' },
    { table_schema: 'meta', table_name: 'columns', columns: '8' },
    { table_schema: 'meta', table_name: 'models', columns: '9' },
    { table_schema: 'meta', table_name: 'source_freshness', columns: '7' },
    { table_schema: 'staging', table_name: 'stg_user', columns: '3' },
  ])
})

it('publishing lets the caller write its own meta tables before the checks', async () => {
  const bench = await Bench.open()
  await bench.build(
    { ...TINY, 'tests/runs.sql': 'select * from meta.runs where run_id is null' },
    { meta: (db) => db.run(`create table meta.runs as select 'run-1' as run_id`) },
  )
  expect(await bench.rows('select * from meta.runs')).toEqual([{ run_id: 'run-1' }])
})

it('publishing is cancelled when the caller’s meta fails', async () => {
  const bench = await Bench.open()
  const error = await failure(bench.build(TINY, { meta: () => Promise.reject(new Error('disk')) }))
  expect(error).toMatchObject({ message: 'disk' })
  expect(await readdir(bench.data)).toEqual(['state', 'users.parquet'])
})

it('publishing that fails frees the space of its file before it writes the artifacts', async () => {
  const bench = await Bench.open()
  let atArtifacts: readonly string[] | undefined
  let hasFailed = false
  const error = await failure(
    bench.build(TINY, {
      artifacts: { folder: join(bench.data, 'target'), builder: 'agent-warehouse 0.0.0' },
      meta: () => {
        hasFailed = true
        return Promise.reject(new Error('disk'))
      },
      now: () => {
        if (hasFailed) atArtifacts ??= readdirSync(bench.data)
        return 0
      },
    }),
  )
  expect(error).toMatchObject({ message: 'disk' })
  expect(atArtifacts).toEqual(['state', 'users.parquet'])
})

it('publishing removes temporary files of a crash, and no other file', async () => {
  const bench = await Bench.open()
  const leftovers = ['.01234567-warehouse.duckdb.part', '.01234567-warehouse.duckdb.part.wal']
  const others = ['.01234567-other.json.part', 'my-warehouse.duckdb', 'notes.txt']
  for (const name of [...leftovers, ...others]) await writeFile(join(bench.data, name), 'x')
  await bench.build(TINY)
  expect(await readdir(bench.data)).toEqual(
    [...others, 'state', 'users.parquet', 'warehouse.duckdb'].sort(),
  )
})

it('publishing removes the write-ahead log of the old file', async () => {
  const bench = await Bench.open()
  await bench.build(TINY)
  await writeFile(`${bench.target}.wal`, 'x')
  await bench.build(TINY)
  expect(await readdir(bench.data)).not.toContain('warehouse.duckdb.wal')
  expect(await bench.rows('select count(*) as n from fct_user')).toEqual([{ n: '3' }])
})

it('publishing leaves the old file to programs that have it open', async () => {
  const bench = await Bench.open()
  await bench.build(TINY)
  const reader = await Database.open(bench.target, { readOnly: true })
  const handle = await open(bench.target)
  const before = await handle.readFile()
  await bench.land("('a', 'u9', 9)")
  await bench.build(TINY)
  expect(await reader.rows('select count(*) as n from fct_user')).toEqual([{ n: '3' }])
  reader.close()
  expect((await handle.stat()).size).toBe(before.byteLength)
  await handle.close()
  expect(await bench.rows('select user_id from fct_user')).toEqual([{ user_id: 'u9' }])
})

it('publishing is cancelled by a signal', async () => {
  const bench = await Bench.open()
  const slow = {
    ...TINY,
    'tests/slow.sql':
      'select count(*) from range(100000000000) as a (i) where i < 0 having count(*) > 0',
  }
  const stop = new AbortController()
  const emit = (event: RunEvent) => {
    if (event.type === 'check.finished' && event.check.startsWith('not_null'))
      setImmediate(() => {
        stop.abort(new DeferredError('stopped', { hint: 'Run it again.' }))
      })
  }
  const error = await failure(bench.build(slow, { signal: stop.signal, emit }))
  expect(error).toMatchObject({ message: 'stopped', hint: 'Run it again.' })
  expect(await readdir(bench.data)).toEqual(['state', 'users.parquet'])
})

describe('a selected build', () => {
  const two: Files = {
    ...TINY,
    'models/marts/fct_total.sql': "select count(*) as users from {{ ref('fct_user') }}",
    'models/marts/fct_total.yml': `models:
  - name: fct_total
    description: One row.
    columns:
      - name: users
        description: Users.
        data_tests: [not_null]
`,
  }

  it('replaces the selected models and keeps the others', async () => {
    const bench = await Bench.open()
    await bench.build(two)
    await bench.land("('a', 'u1', 1), ('a', 'u2', 2)")
    const { models, checks } = await bench.build(two, { select: 'fct_user', runId: 'run-2' })
    expect(models.map(({ name }) => name)).toEqual(['fct_user'])
    expect(checks.map(({ check }) => check)).toEqual([
      'unique_fct_user_user_id',
      'not_null_fct_user_user_id',
    ])
    expect(await bench.rows('select count(*) as n from fct_user')).toEqual([{ n: '2' }])
    expect(await bench.rows('select users from fct_total')).toEqual([{ users: '3' }])
    expect(
      await bench.rows('select run_id, check_name from meta.check_results order by 1, 2'),
    ).toEqual([
      { run_id: 'run-1', check_name: 'not_null_fct_total_users' },
      { run_id: 'run-2', check_name: 'not_null_fct_user_user_id' },
      { run_id: 'run-2', check_name: 'unique_fct_user_user_id' },
    ])
    expect(await bench.rows('select count(*) as n from meta.columns')).toEqual([{ n: '39' }])
  })

  it('turns a view into a table and back', async () => {
    const bench = await Bench.open()
    await bench.build(two)
    const asView = {
      ...two,
      'models/marts/fct_user.sql': `{{ config(materialized='view') }}${two['models/marts/fct_user.sql'] ?? ''}`,
    }
    const kind = `select table_type from information_schema.tables where table_name = 'fct_user'`
    await bench.build(asView, { select: '+fct_user' })
    expect(await bench.rows(kind)).toEqual([{ table_type: 'VIEW' }])
    await bench.build(two, { select: 'fct_user' })
    expect(await bench.rows(kind)).toEqual([{ table_type: 'BASE TABLE' }])
  })

  it('runs only the singular tests that read a selected model', async () => {
    const bench = await Bench.open()
    const files = {
      ...two,
      'tests/users.sql': "select * from {{ ref('fct_user') }} where false",
      'tests/totals.sql': "select * from {{ ref('fct_total') }} where false",
    }
    await bench.build(files)
    const { checks } = await bench.build(files, { select: 'fct_total' })
    expect(checks.map(({ check }) => check)).toEqual(['not_null_fct_total_users', 'totals'])
  })

  it('requires a published file', async () => {
    const bench = await Bench.open()
    const some = { select: 'fct_user' }
    for (const ask of [() => bench.build(two, some), () => bench.plan(two, some)]) {
      const error = await failure(ask())
      expect(error).toBeInstanceOf(UsageError)
      expect(error).toMatchObject({
        message: `only some models are selected, but there is no published warehouse yet: ${bench.target}`,
        hint: 'Build everything first: agent-warehouse build.',
      })
    }
  })

  it('that fails a check leaves the old file', async () => {
    const bench = await Bench.open()
    await bench.build(two)
    const before = await sha256OfFile(bench.target)
    await failure(bench.build(withTest(FEW('error')), { select: 'fct_user' }))
    expect(await sha256OfFile(bench.target)).toBe(before)
  })
})
