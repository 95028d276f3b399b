import { cp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { Database } from '../../src/lib/duckdb.ts'
import { makeWritable } from '../../src/lib/files.ts'
import { holdOpen } from '../support/helpers.ts'
import { martsOf, MS_PER_DAY, publishedNight, type Kept } from './published.ts'

it('law 7: a client that changes the published file does not change the next published file', async () => {
  const { data, ask, work } = await publishedNight()
  const whole = await martsOf(data)
  const path = join(data, 'warehouse.duckdb')
  await makeWritable(path)
  const client = await Database.open(path)
  await client.run('update fct_model_day set billable_tokens = 2 * billable_tokens')
  client.close()
  const doctor = await ask('doctor')
  expect(doctor).toMatchObject({ code: 3 })
  expect(doctor.out).toContain(`${path} is not the file that was published`)
  const built = await work('build')
  expect(built, built.err).toMatchObject({ code: 0 })
  expect(built.out).toContain(`${path} is not the file that was published`)
  expect(await martsOf(data)).toEqual(whole)
  expect((await stat(path)).mode & 0o222).toBe(0)
  expect((await ask('doctor')).out).not.toContain('is not the file')
})

it('a build loses nothing while a program holds the published file open', async () => {
  const { clock, data, ask, work } = await publishedNight()
  const path = join(data, 'warehouse.duckdb')
  await makeWritable(path)
  const release = await holdOpen(path)
  clock.now += MS_PER_DAY
  const next = await work('run')
  await release()
  expect(next, next.err).toMatchObject({ code: 0 })
  expect(next.out).not.toContain('is not the file that was published')
  const kept = JSON.parse((await ask('rollback', '--list', '--json')).out) as Kept[]
  expect(kept.map(({ problem }) => problem)).toEqual([null, null])
  expect(await readdir(join(data, 'snapshots', 'team_entries_history'))).toHaveLength(1)
})

it('base of an unknown organisation, replaced base files and broken records reach no mart', async () => {
  const { data, work } = await publishedNight()
  const whole = await martsOf(data)
  const base = join(data, 'lake', 'base', 'tokens_days')
  const [month = ''] = await readdir(join(base, 'org=org_demo'))
  const file = join(base, 'org=org_demo', month, 'data.parquet')
  await cp(join(base, 'org=org_demo'), join(base, 'org=org_other'), { recursive: true })
  const tools = join(data, 'lake', 'base', 'tools_days')
  await cp(join(tools, 'org=org_demo'), join(tools, 'org=org_other'), { recursive: true })
  await cp(join(base, 'org=org_demo', month), join(base, 'org=org_demo', 'month=2031-01'), {
    recursive: true,
  })
  await writeFile(join(data, 'state', 'base', 'junk.json'), '{"of": "another program"')
  const elsewhere = join(data, 'elsewhere.parquet')
  await cp(join(tools, 'org=org_demo', month, 'data.parquet'), elsewhere)
  await rm(file)
  await symlink(elsewhere, file)
  const built = await work('build')
  expect(built, built.err).toMatchObject({ code: 0 })
  expect(built.out.match(/lake.base.*belongs to no organisation in the ledger/g)).toEqual([
    'lake/base/*/org=org_other belongs to no organisation in the ledger',
  ])
  for (const entity of ['tokens_days', 'tools_days'])
    expect(await readdir(join(data, 'quarantine', 'base', entity))).toContain('org=org_other')
  expect(built.out).toContain('the base file of tokens_days')
  expect(await martsOf(data)).toEqual(whole)
})
