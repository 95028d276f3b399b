import { spawnSync } from 'node:child_process'
import { open, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sha256OfFile } from '../../src/lib/files.ts'
import { packageRoot } from '../../src/lib/package.ts'
import type { BuildOptions } from '../../src/model/shared/context.ts'
import type { BuildResult } from '../../src/model/build/build.ts'
import { DAILY, serve, type UserDay } from './daily.ts'
import { Bench, writeFiles, type Files } from './fixture.ts'

const FIRST: readonly UserDay[] = [
  ['a', '2026-01-14', 'u1', 1, 'v1'],
  ['a', '2026-01-14', 'u2', 2, 'v1'],
  ['a', '2026-01-15', 'u1', 3, 'v1'],
  ['b', '2026-01-14', 'u1', 1, 'v1'],
]

async function built(rows: readonly UserDay[] = FIRST, files: Files = DAILY): Promise<Bench> {
  const bench = await Bench.open()
  await serve(bench, rows)
  await bench.build(files)
  bench.events.length = 0
  return bench
}

/** The intervals of the incremental model that were built again; undefined for a full refresh. */
function intervalsOf({ models }: BuildResult): number | undefined {
  return models.find(({ name }) => name === 'fct_user_day')?.intervals
}

function refreshes({ events }: Bench): string[] {
  return events.flatMap((event) =>
    event.type === 'model.refreshed' ? [`${event.model}: ${event.reason}`] : [],
  )
}

function rowsOf(bench: Bench): Promise<unknown[]> {
  return bench.rows(`select org_id, cast(activity_date as varchar) as day, user_id,
    cast(sessions as int) as sessions, day_digest from fct_user_day order by all`)
}

const asRow = ([org_id, day, user_id, sessions, day_digest]: UserDay) => ({
  org_id,
  day,
  user_id,
  sessions,
  day_digest,
})

describe('a second build', () => {
  const cases: [string, UserDay[], number][] = [
    ['no change', [...FIRST], 0],
    ['a new day', [...FIRST, ['a', '2026-01-16', 'u1', 1, 'v1']], 1],
    ['a restated day with fewer users', [...FIRST.slice(2), ['a', '2026-01-14', 'u2', 3, 'v2']], 1],
    ['a removed day', FIRST.slice(0, 2), 0],
    ['a removed organisation', FIRST.slice(0, 3), 0],
    ['all rows removed', [], 0],
    ['a new organisation', [...FIRST, ['c', '2026-01-14', 'u1', 2, 'v1']], 1],
  ]
  it.each(cases)('builds only changed intervals again: %s', async (_, rows, intervals) => {
    const bench = await built()
    await serve(bench, rows)
    expect(intervalsOf(await bench.build(DAILY))).toBe(intervals)
    expect(await rowsOf(bench)).toEqual(rows.map(asRow).toSorted(inOrder))
    expect(refreshes(bench)).toEqual([])
  })

  const inOrder = (a: object, b: object) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)

  it('builds the models that read a changed interval again', async () => {
    const bench = await built()
    await serve(bench, FIRST.slice(0, 2))
    await bench.build(DAILY)
    expect(await bench.rows('from fct_total')).toEqual([{ sessions: '3' }])
  })
})

it('a model that DuckDB refuses ends the build; the others are not built again', async () => {
  const bench = await built()
  const files = { ...DAILY, 'models/fct_total.sql': 'select * from no_such_table' }
  await expect(bench.build(files)).rejects.toThrow('no_such_table')
  const models = bench.events.flatMap((event) => (event.type === 'model.built' ? event.model : []))
  expect(models.filter((model) => model === 'fct_user_day')).toHaveLength(1)
  expect(bench.events.filter(({ type }) => type === 'warning')).toEqual([])
})

describe('an incremental model', () => {
  const sql = DAILY['models/fct_user_day.sql'] ?? ''
  const staging = DAILY['models/stg_users.sql'] ?? ''
  const yml = DAILY['models/fct_user_day.yml'] ?? ''
  const two = `from {{ ref('stg_users') }} where sessions > 1\n{% if is_incremental() %}\nand (`
  const changes: [string, Files, Partial<BuildOptions>, string][] = [
    [
      'its SQL',
      {
        'models/fct_user_day.sql': sql.replace(
          /from \{\{ ref\('stg_users'\) \}\}\n\{% if is_incremental\(\) %\}\nwhere \(/,
          two,
        ),
      },
      {},
      'changed since: fct_user_day',
    ],
    [
      'its columns',
      {
        'models/fct_user_day.sql': sql.replace('select *\n', 'select *, 1 as one\n'),
        'models/fct_user_day.yml': `${yml}      - {name: one, description: One.}\n`,
      },
      {},
      'changed since: fct_user_day',
    ],
    [
      'its pre-hook',
      { 'models/fct_user_day.sql': sql.replace('as held', 'as had') },
      {},
      'changed since: fct_user_day',
    ],
    [
      'the SQL of a model that it reads',
      { 'models/stg_users.sql': `${staging}where sessions > 1` },
      {},
      'changed since: stg_users',
    ],
    [
      'the statement that makes its source',
      {},
      { sourceStatements: (source, table) => `${source}.${table} by another statement` },
      'changed since: stg_users',
    ],
    ['the option --full-refresh', {}, { fullRefresh: true }, '--full-refresh'],
  ]
  it.each(changes)(
    'is built from scratch, with the reason, after a change of %s',
    async (_, files, options, reason) => {
      const bench = await built()
      await serve(bench, [['a', '2026-01-14', 'u1', 2, 'v2'], ...FIRST.slice(2)])
      const now = { ...DAILY, ...files }
      expect(intervalsOf(await bench.build(now, options))).toBeUndefined()
      expect(refreshes(bench)).toEqual([`fct_user_day: ${reason}`])
      const whole = await Bench.open()
      await serve(whole, [['a', '2026-01-14', 'u1', 2, 'v2'], ...FIRST.slice(2)])
      await whole.build(now)
      expect(await rowsOf(bench)).toEqual(await rowsOf(whole))
      expect(intervalsOf(await bench.build(now, options))).toBe(options.fullRefresh ? undefined : 0)
    },
  )

  it('is built from scratch after a change of the folder of base', async () => {
    const bench = await built()
    const other = await Bench.open()
    await serve(other, FIRST.slice(0, 1))
    const sourceSql = () => `read_parquet('${join(other.data, 'users.parquet')}')`
    expect(intervalsOf(await bench.build(DAILY, { sourceSql }))).toBeUndefined()
    expect(await rowsOf(bench)).toHaveLength(1)
    expect(intervalsOf(await bench.build(DAILY))).toBeUndefined()
    expect(await rowsOf(bench)).toHaveLength(4)
  })

  it('is not built from scratch after a change of a description', async () => {
    const bench = await built()
    const described = { ...DAILY, 'models/fct_user_day.yml': yml.replace('Sessions.', 'Times.') }
    expect(intervalsOf(await bench.build(described))).toBe(0)
    expect(
      await bench.rows(
        `select description from meta.columns
        where table_name = 'fct_user_day' and column_name = 'sessions'`,
      ),
    ).toEqual([{ description: 'Times.' }])
  })
})

describe('a published file is replaced by a full build', () => {
  it('because it is not a database', async () => {
    const bench = await built()
    await writeFile(bench.target, 'not a database')
    expect(intervalsOf(await bench.build(DAILY))).toBeUndefined()
    expect(await rowsOf(bench)).toHaveLength(4)
  })

  it('with a warning because a block in it is damaged', async () => {
    const users = Array.from({ length: 20_000 }, (_, n) => `user ${(n * 7919) % 20_011}`)
    const rows = users.map((user): UserDay => ['a', '2026-01-14', user, 1, 'v1'])
    const bench = await built(rows)
    await damage(bench, 'fct_user_day', 'user_id')
    await serve(bench, [...rows, ...FIRST.slice(3)])
    expect(intervalsOf(await bench.build(DAILY))).toBeUndefined()
    expect(await rowsOf(bench)).toHaveLength(20_001)
    expect(bench.events).toContainEqual({
      type: 'warning',
      message: expect.stringContaining('everything is built again from base') as string,
      about: 'damage',
    })
  })

  it('because another program wrote to it', async () => {
    const bench = await built()
    await writeFile(`${bench.target}.wal`, 'x')
    expect(intervalsOf(await bench.build(DAILY))).toBeUndefined()
    expect(refreshes(bench)).toEqual([
      'fct_user_day: another program has written warehouse.duckdb.wal next to it',
    ])
  })

  it('because a version that kept no record made it', async () => {
    const bench = await built()
    await bench.write('drop table meta.models')
    expect(intervalsOf(await bench.build(DAILY))).toBeUndefined()
    expect(await rowsOf(bench)).toHaveLength(4)
  })

  it('because another version of DuckDB made it', async () => {
    const bench = await built()
    await bench.write(`update meta.models set engine = 'DuckDB v1.0.0, storage v1.0.0'`)
    expect(intervalsOf(await bench.build(DAILY))).toBeUndefined()
    expect(refreshes(bench)).toEqual([
      'fct_user_day: it was built with DuckDB v1.0.0, storage v1.0.0',
    ])
  })
})

const HEADER_BYTES = 3 * 4096
const BLOCK_BYTES = 256 * 1024

/** Overwrites part of the block that holds the first rows of a column. */
async function damage(bench: Bench, table: string, column: string): Promise<void> {
  const [found] = await bench.rows(
    `select block_id from pragma_storage_info('${table}')
    where column_name = '${column}' and persistent and segment_type = 'VARCHAR'`,
  )
  const handle = await open(bench.target, 'r+')
  const at = HEADER_BYTES + Number(found?.['block_id']) * BLOCK_BYTES + BLOCK_BYTES / 2
  await handle.write(Buffer.alloc(1000, 7), 0, 1000, at)
  await handle.close()
}

describe('a build on the published file', () => {
  it('drops removed models and checks, as a new file would', async () => {
    const bench = await built(FIRST, {
      ...DAILY,
      'models/old.sql': `{{ config(materialized='table') }} select 1 as one`,
      'models/old.yml': `models:
  - name: old
    description: One row.
    columns:
      - {name: one, description: One., data_tests: [not_null]}
`,
    })
    expect(intervalsOf(await bench.build(DAILY))).toBe(0)
    const whole = await built()
    for (const query of [
      `select schema_name, table_name, comment from duckdb_tables() order by all`,
      `select schema_name, view_name, comment from duckdb_views() where not internal order by all`,
      'select * exclude (checked_at) from meta.check_results order by all',
      'select * exclude (made_by, fingerprint) from meta.models order by all',
      'select * from meta.columns order by all',
    ]) {
      expect(await bench.rows(query)).toEqual(await whole.rows(query))
    }
  })

  it('does not make the file grow', async () => {
    const bench = await built()
    await bench.build(DAILY)
    const { size } = await stat(bench.target)
    await bench.build(DAILY)
    await bench.build(DAILY)
    expect((await stat(bench.target)).size).toBe(size)
  })
})

describe('a check of an incremental model', () => {
  const failures = ({ checks }: BuildResult, kind: string) =>
    checks.find(({ check }) => check.startsWith(kind))?.failures

  it('finds a wrong row in a changed interval', async () => {
    const bench = await built()
    await serve(bench, [
      ...FIRST,
      ['a', '2026-01-16', 'u1', 1, 'v1'],
      ['a', '2026-01-16', 'u1', 2, 'v1'],
    ])
    await expect(bench.build(DAILY)).rejects.toThrow('unique_key_fct_user_day')
    expect(await rowsOf(bench)).toHaveLength(4)
  })

  it('counts earlier wrong rows too, as a full build does', async () => {
    const bench = await built([...FIRST, ['a', '2026-01-16', 'u1', 9, 'v1']])
    await serve(bench, [
      ...FIRST,
      ['a', '2026-01-16', 'u1', 9, 'v1'],
      ['a', '2026-01-17', 'u1', 8, 'v1'],
    ])
    expect(failures(await bench.build(DAILY), 'accepted_values')).toBe(2)
    expect(failures(await bench.build(DAILY), 'accepted_values')).toBe(2)
  })

  it('reads every row when it is new or has changed', async () => {
    const bench = await built()
    const yml = DAILY['models/fct_user_day.yml'] ?? ''
    const fewer = { ...DAILY, 'models/fct_user_day.yml': yml.replace('[1, 2, 3]', '[1]') }
    const result = await bench.build(fewer)
    expect(intervalsOf(result)).toBe(0)
    expect(failures(result, 'accepted_values')).toBe(2)
  })

  it('is recorded with the statement that shows wrong rows of any interval', async () => {
    const bench = await built()
    await bench.build(DAILY)
    const rows = await bench.rows(`select query from meta.check_results where model is not null`)
    expect(rows).toHaveLength(2)
    for (const { query } of rows) {
      expect(await bench.rows(typeof query === 'string' ? query : '')).toEqual([])
    }
  })
})

it('not_null finds a new row without a value in a column of its interval', async () => {
  const day = '- {name: activity_date, description: The day.}'
  const test = `${day.slice(0, -1)}, data_tests: [not_null]}`
  const files: Files = {
    ...DAILY,
    'models/stg_users.sql': `select * replace (nullif(activity_date, '2026-01-16') as activity_date)
from {{ source('platform', 'users') }}
`,
    'models/fct_user_day.yml': (DAILY['models/fct_user_day.yml'] ?? '').replace(day, test),
  }
  const bench = await built(FIRST, files)
  await serve(bench, [...FIRST, ['a', '2026-01-16', 'u1', 1, 'v1']])
  await expect(bench.build(files)).rejects.toThrow(
    'a check failed: not_null_fct_user_day_activity_date (1 row)',
  )
})

describe('a selected build', () => {
  it('updates a selected incremental model', async () => {
    const bench = await built()
    await serve(bench, FIRST.slice(0, 3))
    expect(intervalsOf(await bench.build(DAILY, { select: 'fct_user_day' }))).toBe(0)
    expect(await rowsOf(bench)).toHaveLength(3)
    expect(intervalsOf(await bench.build(DAILY))).toBe(0)
  })

  it('with --full-refresh builds a selected incremental model from scratch', async () => {
    const bench = await built()
    const options = { select: 'fct_user_day', fullRefresh: true }
    expect(intervalsOf(await bench.build(DAILY, options))).toBeUndefined()
  })

  it('of a changed model does not hide the change from its incremental reader', async () => {
    const bench = await built()
    const sql = `select * from {{ source('platform', 'users') }} where sessions > 1`
    const changed = { ...DAILY, 'models/stg_users.sql': sql }
    await bench.build(changed, { select: 'stg_users' })
    expect(intervalsOf(await bench.build(changed))).toBeUndefined()
    expect(await rowsOf(bench)).toHaveLength(2)
  })

  it('reads the models in the file, and records their fingerprints', async () => {
    const bench = await built()
    const sql = `select * from {{ source('platform', 'users') }} where sessions > 1`
    const changed = { ...DAILY, 'models/stg_users.sql': sql }
    await bench.build(changed, { select: 'fct_user_day', fullRefresh: true })
    expect(await rowsOf(bench)).toHaveLength(4)
    expect(intervalsOf(await bench.build(changed))).toBeUndefined()
    expect(await rowsOf(bench)).toHaveLength(2)
  })
})

it('a build that was killed before its rename leaves the published file, which the next build reuses', async () => {
  const bench = await built()
  const before = await sha256OfFile(bench.target)
  await serve(bench, FIRST.slice(0, 3))
  const project = await writeFiles(DAILY)
  const script = `
    import { buildAndPublish } from ${JSON.stringify(join(packageRoot, 'dist/model/build/build.js'))}
    await buildAndPublish({
      project: await (await import(${JSON.stringify(join(packageRoot, 'dist/model/project/project.js'))})).loadProject(${JSON.stringify(project)}),
      target: ${JSON.stringify(bench.target)},
      sourceSql: (_, table) => "read_parquet('" + ${JSON.stringify(bench.data)} + '/' + table + ".parquet')",
      meta: () => process.kill(process.pid, 'SIGKILL'),
      sourceStatements: () => '', movableFolder: null, sourceContent: () => null, fullRefresh: false, retry: false,
      asOf: null, keep: 0, runId: 'killed', now: () => 0, emit: () => {}, tempDirectory: ${JSON.stringify(join(bench.data, 'spill'))},
    })`
  const { signal } = spawnSync(process.execPath, ['--input-type=module', '-e', script])
  expect(signal).toBe('SIGKILL')
  expect(await sha256OfFile(bench.target)).toBe(before)
  expect((await readdir(bench.data)).some((name) => name.endsWith('.part'))).toBe(true)
  expect(intervalsOf(await bench.build(DAILY))).toBe(0)
  expect(await rowsOf(bench)).toHaveLength(3)
  expect((await readdir(bench.data)).some((name) => name.endsWith('.part'))).toBe(false)
})

it('a build without a published file builds everything, without a reason', async () => {
  const bench = await built()
  await rm(bench.target)
  expect(intervalsOf(await bench.build(DAILY))).toBeUndefined()
  expect(refreshes(bench)).toEqual([])
})
