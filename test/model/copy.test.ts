import { readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { WorkingCopy } from '../../src/model/index.ts'
import { Database } from '../../src/lib/duckdb.ts'
import { Bench, TINY } from './fixture.ts'
import { folderOfFile } from '../support/folders.ts'

async function published(): Promise<string> {
  const target = join(await folderOfFile(), 'warehouse.duckdb')
  await writeFile(target, 'published')
  return target
}

it('belongs to who takes it', async () => {
  const target = await published()
  const copy = new WorkingCopy(target, target)
  copy.begin()
  const { path } = await copy.take()
  await copy.discard()
  expect(await readFile(path, 'utf8')).toBe('published')
})

it('is removed where nobody takes it, though it was just begun', async () => {
  const target = await published()
  const copy = new WorkingCopy(target, target)
  copy.begin()
  await copy.discard()
  expect(await readdir(dirname(target))).toEqual(['warehouse.duckdb'])
})

it('of a missing file fails only in take()', async () => {
  const target = join(await folderOfFile(), 'warehouse.duckdb')
  const copy = new WorkingCopy(target, target)
  copy.begin()
  await expect(copy.take()).rejects.toMatchObject({ code: 'ENOENT' })
  await copy.discard()
})

it('that was begun before is what is built upon, and nothing is left of it', async () => {
  const bench = await Bench.open()
  await bench.build(TINY)
  const copy = new WorkingCopy(bench.target, bench.target)
  const { path } = await copy.take()
  const db = await Database.open(path)
  await db.run('create table main.of_the_copy (id integer); checkpoint')
  db.close()
  await bench.build(TINY, { select: 'fct_user', copy })
  expect(await bench.rows('select count(*) as rows from main.of_the_copy')).toEqual([{ rows: '0' }])
  expect(await readdir(bench.data)).toEqual(['state', 'users.parquet', 'warehouse.duckdb'])
})

it('is removed by a build that builds upon nothing, before it needs the room', async () => {
  const bench = await Bench.open()
  await bench.build(TINY)
  const copy = new WorkingCopy(bench.target, bench.target)
  copy.begin()
  await bench.build(TINY, { fullRefresh: true, copy })
  expect(await readdir(bench.data)).toEqual(['state', 'users.parquet', 'warehouse.duckdb'])
})
