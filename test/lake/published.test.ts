import fsp, { mkdir, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { keptFiles, publishFile, recordPath, verifyPublished } from '../../src/lake/published.ts'
import { rollBack } from '../../src/serve/rollback.ts'
import { Database } from '../../src/lib/duckdb.ts'
import { temporaryFolder } from '../support/helpers.ts'

/** The second run had a clock that was a year ahead. */
const RUNS = ['20260201', '20270202', '20260203', '20260204']

const options = { runId: 'r', now: () => 0, to: undefined }

/** Publishes a file of each run after the other, and returns the data folder. */
async function published(runIds: readonly string[], keep: number): Promise<string> {
  const data = await temporaryFolder()
  await mkdir(join(data, 'state'))
  for (const runId of runIds) await publish(data, runId, keep)
  return data
}

/** `asOf`: the time of `--as-of`, if the run had one. */
async function publish(
  data: string,
  runId: string,
  keep: number,
  asOf: string | null = null,
): Promise<void> {
  const target = join(data, 'warehouse.duckdb')
  const temporary = join(data, `${runId}.new`)
  const database = await Database.open(temporary)
  await database.run(`create schema meta; create table meta.columns as select '${runId}' as run`)
  database.close()
  const verdict = await verifyPublished(target)
  await publishFile(temporary, {
    target,
    runId,
    builtAt: '2026-02-01T00:00:00.000Z',
    asOf,
    content: runId,
    meta: runId,
    present: verdict.state === 'published' ? verdict.record : null,
    keep,
    warn: (message) => expect.fail(message),
  })
}

async function keptRuns(data: string): Promise<string[]> {
  return (await keptFiles(join(data, 'warehouse.duckdb'))).map(({ runId }) => runId)
}

it('a reader finds no change in a file that a run replaces meanwhile', async () => {
  const data = await published(['first'], 0)
  const target = join(data, 'warehouse.duckdb')
  const { readFile } = fsp
  const restore = (): void => {
    Object.assign(fsp, { readFile })
    syncBuiltinESMExports()
  }
  onTestFinished(restore)
  let reads = 0
  const readLate = async (...given: Parameters<typeof readFile>) => {
    if (given[0] === recordPath(target)) reads += 1
    if (reads === 2) {
      restore()
      await publish(data, 'second', 0) // after the first file was read, before it is judged
    }
    return readFile(...given)
  }
  Object.assign(fsp, { readFile: readLate })
  syncBuiltinESMExports()
  expect(await verifyPublished(target)).toMatchObject({ record: { runId: 'second' } })
})

it('a build after a rollback keeps the file that it replaces, not the one that was rolled back', async () => {
  const data = await published(['good', 'bad'], 1)
  expect((await rollBack({ ...options, dataFolder: data })).to).toBe('good')
  await publish(data, 'next', 1)
  expect(await keptRuns(data)).toEqual(['good'])
})

it('a rollback goes back to the file that was replaced, not to one that was rolled back', async () => {
  const data = await published(['good', 'bad'], 3)
  await rollBack({ ...options, dataFolder: data })
  await publish(data, 'next', 3)
  expect((await rollBack({ ...options, dataFolder: data })).to).toBe('good')
})

it('the order of publication counts, also after a run whose clock was ahead', async () => {
  const data = await published(RUNS, 2)
  expect(await keptRuns(data)).toEqual(['20270202', '20260203'])
  expect((await rollBack({ ...options, dataFolder: data })).to).toBe('20260203')
  expect((await rollBack({ ...options, dataFolder: data })).to).toBe('20270202')
  await writeFile(join(data, 'published', 'unknown.duckdb'), '')
  expect(await keptRuns(data)).toEqual(['unknown', '20270202', '20260203', '20260204'])
})

it('a file that was built with --as-of is not kept for a rollback when it is replaced', async () => {
  const data = await published(['good'], 3)
  await publish(data, 'past', 3, '2026-01-01T00:00:00.000Z')
  expect(await keptRuns(data)).toEqual(['good'])
  await publish(data, 'next', 3)
  expect(await keptRuns(data)).toEqual(['good'])
})
