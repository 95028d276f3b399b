import { stat } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { ProjectError, StatementError } from '../../src/model/project/errors.ts'
import { Bench, TINY } from './fixture.ts'

const MART = TINY['models/marts/fct_user.yml'] ?? ''

async function failure(work: Promise<unknown>): Promise<Error & { hint?: string }> {
  try {
    await work
  } catch (error) {
    if (error instanceof Error) return error
  }
  throw new Error('it did not fail')
}

it('build makes views and tables in their schemas, and reports them', async () => {
  const bench = await Bench.open()
  const { models } = await bench.build(TINY)
  expect(models).toEqual([
    { name: 'stg_user', rows: null, durationMs: 5 },
    { name: 'fct_user', rows: 3, durationMs: 5 },
  ])
  expect(bench.events.filter(({ type }) => type === 'model.built')).toEqual([
    { type: 'model.built', model: 'stg_user', rows: null, durationMs: 5 },
    { type: 'model.built', model: 'fct_user', rows: 3, durationMs: 5 },
  ])
  const tables = `select table_schema, table_name, table_type from information_schema.tables
    where table_schema <> 'meta' order by 1, 2`
  expect(await bench.rows(tables)).toEqual([
    { table_schema: 'main', table_name: 'fct_user', table_type: 'BASE TABLE' },
    { table_schema: 'staging', table_name: 'stg_user', table_type: 'VIEW' },
  ])
  expect(await bench.rows('select * from fct_user')).toEqual([
    { user_id: 'u1', sessions: '3' },
    { user_id: 'u2', sessions: '0' },
    { user_id: 'u3', sessions: '5' },
  ])
  expect(await bench.rows('select count(*) as n from staging.stg_user')).toEqual([{ n: '3' }])
})

it('build lets the caller override vars', async () => {
  const bench = await Bench.open()
  await bench.build(TINY, { vars: { smallest: 4 } })
  expect(await bench.rows('select user_id from fct_user')).toEqual([{ user_id: 'u3' }])
})

it('build writes descriptions as comments of tables and views, with their quotes', async () => {
  const bench = await Bench.open()
  await bench.build(TINY)
  const comments = `
    select table_name, comment from duckdb_tables() where schema_name = 'main'
    union all select view_name, comment from duckdb_views() where schema_name = 'staging'
    union all select table_name || '.' || column_name, comment from duckdb_columns()
    where schema_name in ('main', 'staging') and database_name = current_database()
      and column_name = 'user_id'
    order by 1`
  expect(await bench.rows(comments)).toEqual([
    { table_name: 'fct_user', comment: "One row per user. It's a fact." },
    { table_name: 'fct_user.user_id', comment: "The user's id." },
    { table_name: 'stg_user', comment: 'One row per user.' },
    { table_name: 'stg_user.user_id', comment: "The user's id." },
  ])
})

it('build gives every column of the file a comment', async () => {
  const bench = await Bench.open()
  await bench.build(TINY)
  expect(await bench.rows('select * from meta.columns where description is null')).toEqual([])
})

it('build refuses a described column that the model lacks, with its line', async () => {
  const bench = await Bench.open()
  const yml = MART.replace('- name: sessions', '- name: session')
  const error = await failure(bench.build({ ...TINY, 'models/marts/fct_user.yml': yml }))
  expect(error.message).toBe(
    "models/marts/fct_user.yml:10: model 'fct_user' has no column 'session'",
  )
  expect(error.hint).toMatch(/^Nothing was published; .*\nDid you mean 'sessions'\?$/)
})

it('build refuses a column that is not described', async () => {
  const bench = await Bench.open()
  const sql = "select 1 as extra, user_id, sessions from {{ ref('stg_user') }}"
  const error = await failure(bench.build({ ...TINY, 'models/marts/fct_user.sql': sql }))
  expect(error.message).toBe(
    "models/marts/fct_user.yml:2: column 'extra' of 'fct_user' is not described",
  )
})

it('build reports an error of DuckDB with the model, its file and line', async () => {
  const bench = await Bench.open()
  const sql =
    "{{ config(\nmaterialized='table') }}\nselect\n    user_idd,\n    sessions\nfrom {{ ref('stg_user') }}\n"
  const error = await failure(bench.build({ ...TINY, 'models/marts/fct_user.sql': sql }))
  expect(error).toBeInstanceOf(StatementError)
  expect(error.message).toContain("models/marts/fct_user.sql: model 'fct_user': Binder Error")
  expect(error.message).toContain('LINE 4:     user_idd')
  expect(error.cause).toBeInstanceOf(Error)
  await expect(stat(bench.target)).rejects.toThrow('ENOENT')
})

it('build reports an error of the project before it writes a file', async () => {
  const bench = await Bench.open()
  const error = await failure(
    bench.build({ ...TINY, 'models/marts/fct_user.sql': 'select {{ nothing }}' }),
  )
  expect(error).toBeInstanceOf(ProjectError)
  expect(error).toMatchObject({ message: "models/marts/fct_user.sql:1: unknown name 'nothing'" })
})
