import { createHash } from 'node:crypto'
import fs, {
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeWritable } from '../../src/lib/files.ts'
import { readRecords } from '../../src/lake/published.ts'
import { Database } from '../../src/lib/duckdb.ts'
import { holdOpen } from '../support/helpers.ts'
import { DAILY, serve, type UserDay } from './daily.ts'
import { Bench } from './fixture.ts'

const ROWS: readonly UserDay[] = [
  ['a', '2026-01-14', 'u1', 1, 'v1'],
  ['a', '2026-01-15', 'u2', 3, 'v1'],
]

async function published(): Promise<Bench> {
  const bench = await Bench.open()
  await serve(bench, ROWS)
  await bench.build(DAILY, SAME)
  return bench
}

const SAME = { sourceContent: () => 'the same rows', keep: 3 }

const rowsOf = (bench: Bench) =>
  bench.rows('select user_id, cast(sessions as int) as sessions from fct_user_day order by all')

const doubled = 'update fct_user_day set sessions = 2 * sessions'

/** Changes of the published file by a program, a person or a disk. */
const CHANGES: readonly [what: string, change: (bench: Bench) => Promise<void>][] = [
  ['whose values a client doubled', (bench) => bench.tamper(doubled)],
  [
    'whose values a client doubled, with its old size and time',
    async (bench) => {
      const { size, atime, mtime } = await stat(bench.target)
      await bench.tamper(doubled)
      const bytes = await readFile(bench.target)
      await writeFile(bench.target, Buffer.concat([bytes, Buffer.alloc(size)]).subarray(0, size))
      await utimes(bench.target, atime, mtime)
    },
  ],
  [
    'with one flipped bit',
    async (bench) => {
      const bytes = await readFile(bench.target)
      const at = bytes.length >> 1
      bytes[at] = (bytes[at] ?? 0) ^ 1
      await writeFile(bench.target, bytes)
    },
  ],
  ['that was cut off', async ({ target }) => truncate(target, (await stat(target)).size >> 1)],
  ['that was emptied', ({ target }) => truncate(target, 0)],
  [
    'that was replaced by another database',
    async ({ target }) => {
      await rm(target)
      const db = await Database.open(target)
      await db.run('create table fct_user_day as select 1 as sessions; checkpoint')
      db.close()
    },
  ],
  [
    'that was replaced by a link to another database',
    async (bench) => {
      const elsewhere = join(bench.data, 'elsewhere.duckdb')
      await bench.tamper(doubled)
      await rename(bench.target, elsewhere)
      await symlink(elsewhere, bench.target)
    },
  ],
  [
    'that was replaced by a folder',
    async ({ target }) => {
      await rm(target)
      await mkdir(target)
      await writeFile(join(target, 'notes.txt'), 'mine')
    },
  ],
  ['with a write-ahead log', ({ target }) => writeFile(`${target}.wal`, 'x')],
]

describe('a published file that was changed', () => {
  it.each(CHANGES)('is reported, and everything is built again: a file %s', async (_, change) => {
    const bench = await published()
    const before = await rowsOf(bench)
    await makeWritable(bench.target)
    await change(bench)
    await bench.build(DAILY, { ...SAME, runId: 'run-2' })
    expect(bench.warnings).toEqual([
      expect.stringMatching(
        /warehouse\.duckdb is not the file that was published: .*; everything is built again from base/,
      ),
    ])
    expect(await rowsOf(bench)).toEqual(before)
    const file = await lstat(bench.target)
    expect([file.isFile(), file.mode & 0o222]).toEqual([true, 0])
    expect((await readdir(bench.data)).filter((name) => /\.wal$|\.part$/.test(name))).toEqual([])
    expect(await readdir(join(bench.data, 'published')).catch(() => [])).toEqual([])
    await bench.build(DAILY, { ...SAME, runId: 'run-3' })
    expect(bench.warnings).toHaveLength(1)
  })

  it('goes to quarantine when it is a folder', async () => {
    const bench = await published()
    await rm(bench.target)
    await mkdir(bench.target)
    await writeFile(join(bench.target, 'notes.txt'), 'mine')
    await bench.build(DAILY, { ...SAME, runId: 'run-2' })
    const moved = join(bench.data, 'quarantine', 'warehouse.duckdb-run-2', 'notes.txt')
    expect(await readFile(moved, 'utf8')).toBe('mine')
  })

  it('makes a selected build fail with the reason', async () => {
    const bench = await published()
    await bench.tamper(doubled)
    await expect(bench.build(DAILY, { ...SAME, select: 'fct_total' })).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('is not the file that was published') as string,
    })
  })

  it('is not reused when there is no record of it, as after an earlier version', async () => {
    const bench = await published()
    await bench.tamper(doubled)
    await rm(join(bench.data, 'state', 'warehouse.duckdb.json'))
    await bench.build(DAILY, SAME)
    expect(bench.warnings).toEqual([expect.stringContaining('no record of what was published')])
    expect(await rowsOf(bench)).toHaveLength(2)
  })
})

describe('an unchanged published file', () => {
  it('is read-only, and its record has its size, time and digest', async () => {
    const bench = await published()
    const [record, ...others] = await readRecords(bench.target)
    expect(others).toEqual([])
    const { size, mtime, mode } = await stat(bench.target)
    expect(record).toMatchObject({
      runId: 'run-1',
      bytes: size,
      modifiedAt: mtime.toISOString(),
      sha256: createHash('sha256')
        .update(await readFile(bench.target))
        .digest('hex'),
    })
    expect(mode & 0o222).toBe(0)
  })

  it('is reused although its time differs, as after a restore from a backup', async () => {
    const bench = await published()
    await utimes(bench.target, 1, 1)
    await bench.build(DAILY, { ...SAME, runId: 'run-2' })
    expect(bench.warnings).toEqual([])
  })

  it('is reused after a crash between its record and its rename', async () => {
    const bench = await published()
    const earlier = await readFile(bench.target)
    await serve(bench, ROWS.slice(1))
    await bench.build(DAILY, { sourceContent: () => 'other rows', keep: 3, runId: 'run-2' })
    expect((await readRecords(bench.target)).map(({ runId }) => runId)).toEqual(['run-1', 'run-2'])
    await makeWritable(bench.target)
    await writeFile(bench.target, earlier) // recorded but not renamed
    await bench.build(DAILY, { sourceContent: () => 'other rows', keep: 3, runId: 'run-3' })
    expect(bench.warnings).toEqual([])
    expect(await rowsOf(bench)).toHaveLength(1)
  })

  it('stays byte for byte when a build finds nothing new', async () => {
    const bench = await published()
    const before = await readFile(bench.target)
    await bench.build(DAILY, { ...SAME, runId: 'run-2' })
    expect(bench.events.at(-1)).toEqual({ type: 'warehouse.unchanged', path: bench.target })
    expect(before.equals(await readFile(bench.target))).toBe(true)
    expect(await readRecords(bench.target)).toMatchObject([{ runId: 'run-1' }])
  })

  it('is replaced although a build finds nothing new when another program has it open for writing', async () => {
    const bench = await published()
    await makeWritable(bench.target)
    const release = await holdOpen(bench.target)
    await bench.build(DAILY, { ...SAME, runId: 'run-2' })
    expect(bench.events.at(-1)).toMatchObject({ type: 'warehouse.published' })
    expect(await rowsOf(bench)).toHaveLength(2) // readers can open it
    await release()
  })

  it('is replaced and not kept for a rollback when only the record of the run has changed', async () => {
    const bench = await published()
    const meta = (db: Database) =>
      db.run('create or replace table meta.intervals as select 1 as versions')
    await bench.build(DAILY, { ...SAME, meta, runId: 'run-2' })
    expect(await readRecords(bench.target)).toMatchObject([{ runId: 'run-2' }])
    expect(await readdir(join(bench.data, 'published')).catch(() => [])).toEqual([])
  })

  it('is kept for a rollback when its rows change, each content once', async () => {
    const bench = await published()
    const rows = ['one', 'one', 'two', 'two', 'one', 'three', 'four', 'five']
    for (const [index, each] of rows.entries()) {
      await serve(bench, [['a', '2026-01-14', each, 1, each]])
      await bench.build(DAILY, { sourceContent: () => each, keep: 3, runId: `run-2-${index}` })
    }
    expect(await readdir(join(bench.data, 'published'))).toEqual(
      ['run-2-4', 'run-2-5', 'run-2-6'].map((id) => `${id}.duckdb`),
    )
    expect(bench.warnings).toEqual([])
  })
})

it('a full disk during the working copy is not taken for a changed published file', async () => {
  const bench = await published()
  const full = Object.assign(new Error('ENOSPC: no space left on device, copyfile'), {
    code: 'ENOSPC',
  })
  const { copyFile } = fs
  const useToCopy = (copy: typeof copyFile) => {
    fs.copyFile = copy
    syncBuiltinESMExports()
  }
  useToCopy(() => Promise.reject(full))
  try {
    await expect(bench.build(DAILY, SAME)).rejects.toThrow('no space left on the disk')
  } finally {
    useToCopy(copyFile)
  }
  expect(bench.warnings.join()).not.toContain('is not the file that was published')
  expect(await rowsOf(bench)).toEqual([
    { user_id: 'u1', sessions: 1 },
    { user_id: 'u2', sessions: 3 },
  ])
})

it('a retry refuses a changed file of the failed build', async () => {
  const bench = await published()
  const places = {
    failedFile: { path: join(bench.data, 'state', 'failed', 'warehouse.duckdb'), sources: 'same' },
    artifacts: { folder: join(bench.data, 'target'), builder: 'agent-warehouse 0.0.0' },
  }
  const broken = { ...DAILY, 'models/fct_total.sql': 'select * from no_such_table' }
  const fails = () => bench.build(broken, { ...places, runId: 'run-2' }).catch(() => undefined)
  const retry = () => bench.build(DAILY, { ...places, runId: 'run-3', retry: true })
  await fails()
  const db = await Database.open(places.failedFile.path)
  await db.run(`${doubled}; checkpoint`)
  db.close()
  await expect(retry()).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringContaining('is not the file that run run-2 left') as string,
  })
  await fails()
  await retry()
  expect(await rowsOf(bench)).toHaveLength(2)
})
