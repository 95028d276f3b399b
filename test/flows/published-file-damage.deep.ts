import { copyFile, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { makeWritable } from '../../src/lib/files.ts'
import { martsOf, twoNights } from './published.ts'

it('a full refresh that finds nothing new does not replace an earlier file', async () => {
  const { work, list } = await twoNights()
  const outcome = await work('build', '--full-refresh')
  expect(outcome, outcome.err).toMatchObject({ code: 0 })
  expect(outcome.out).toContain('warehouse published')
  expect(await list()).toHaveLength(2)
})

it('a rollback refuses an earlier file that was changed or replaced, and doctor names it', async () => {
  const { data, ask, work, second, list } = await twoNights()
  const [first] = await list()
  const kept = join(data, 'published', `${first?.run_id ?? ''}.duckdb`)
  const whole = await readFile(kept)
  for (const damage of [
    () => truncate(kept, whole.length >> 1),
    () => truncate(kept, 0),
    () => copyFile(join(data, 'warehouse.duckdb'), kept),
    () => writeFile(kept, Buffer.concat([whole.subarray(0, -1), Buffer.from('x')])),
  ]) {
    await rm(kept, { force: true })
    await writeFile(kept, whole)
    await damage()
    const refused = await work('rollback')
    expect(refused).toMatchObject({ code: 2 })
    expect(refused.err).toContain('is not the file that run')
  }
  expect((await ask('doctor')).out).toContain(`${kept} is not the file that run`)
  expect(await martsOf(data)).toEqual(second)
  await writeFile(kept, whole)
  expect(await work('rollback')).toMatchObject({ code: 0 })
})

it('a program that writes into the file of a rollback does not change the earlier file', async () => {
  const { data, work, first, list } = await twoNights()
  const [earlier] = await list()
  await work('rollback')
  const path = join(data, 'warehouse.duckdb')
  await makeWritable(path)
  await truncate(path, 100)
  await work('build')
  expect(await work('rollback', '--to', earlier?.run_id ?? '')).toMatchObject({ code: 0 })
  expect(await martsOf(data)).toEqual(first)
})
