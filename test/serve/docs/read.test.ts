import { rename } from 'node:fs/promises'
import { expect, it, onTestFinished, vi } from 'vitest'
import { Database } from '../../../src/lib/duckdb.ts'
import { readPublished } from '../../../src/serve/docs/read.ts'
import { warehouseOf, writeWarehouse } from '../support.ts'

function publishedBy(run: string, rows: number): string {
  return `create schema meta;
    create table meta.build as select '${run}' as run_id, timestamp '2026-03-01' as built_at, null::timestamp as as_of;
    create table meta.check_results (model varchar, check_name varchar, column_name varchar, status varchar, failures bigint);
    create table fct_day as from range(${rows})`
}

it('reads one file, also if a build publishes another one meanwhile', async () => {
  const { path } = await warehouseOf(publishedBy('first', 1))
  await writeWarehouse(`${path}.next`, publishedBy('second', 2))
  const rowsOf = vi.spyOn(Database.prototype, 'rows')
  onTestFinished(() => {
    rowsOf.mockRestore()
  })
  rowsOf.mockImplementationOnce(async function (this: Database, ...given) {
    await rename(`${path}.next`, path)
    return this.rows(...given)
  })
  const { build, rows } = await readPublished(path, new AbortController().signal)
  expect([build?.runId, rows.get('main.fct_day')]).toEqual(['first', 1])
})
