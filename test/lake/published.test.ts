import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { keptFiles, publishFile } from '../../src/lake/published.ts'
import { readRecords } from '../../src/lake/published-record.ts'
import { rollBack } from '../../src/serve/rollback.ts'
import { Database } from '../../src/lib/duckdb.ts'
import { temporaryFolder } from '../support/helpers.ts'

/** The second run had a clock that was a year ahead. */
const RUNS = ['20260201', '20270202', '20260203', '20260204']

it('the order of publication counts, also after a run whose clock was ahead', async () => {
  const data = await temporaryFolder()
  const target = join(data, 'warehouse.duckdb')
  await mkdir(join(data, 'state'))
  for (const runId of RUNS) {
    const temporary = join(data, `${runId}.new`)
    const database = await Database.open(temporary)
    await database.run(`create schema meta; create table meta.columns as select '${runId}' as run`)
    database.close()
    await publishFile(temporary, {
      target,
      runId,
      builtAt: '2026-02-01T00:00:00.000Z',
      asOf: null,
      content: runId,
      meta: runId,
      present: (await readRecords(target)).at(-1) ?? null,
      keep: 2,
      warn: (message) => expect.fail(message),
    })
  }
  const names = (await keptFiles(target)).map(({ runId }) => runId)
  expect(names).toEqual(['20270202', '20260203'])
  const options = { dataFolder: data, runId: 'r', now: () => 0, to: undefined }
  expect((await rollBack(options)).to).toBe('20260203')
  expect((await rollBack(options)).to).toBe('20270202')
  await writeFile(join(data, 'published', 'unknown.duckdb'), '')
  expect((await keptFiles(target)).map(({ runId }) => runId)).toEqual([
    'unknown',
    '20270202',
    '20260203',
    '20260204',
  ])
})
