import { copyFile, readdir, readFile, rm, truncate, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeWritable } from '../../src/lib/files.ts'
import { martsOf, MS_PER_DAY, publishedNight, twoNights } from './published.ts'

describe('rollback', () => {
  it('publishes the previous file and says so, until a build returns to the latest data', async () => {
    const { data, ask, done, first, second, list } = await twoNights()
    expect(second).not.toEqual(first)
    const unknown = await ask('rollback', '--to', '1999', '--log', 'none')
    expect(unknown).toMatchObject({ code: 2 })
    expect(unknown.err).toContain(`no published file of a run '1999' is kept`)
    expect(unknown.err).toContain(`Kept: ${(await list())[0]?.run_id ?? ''}`)

    const back = JSON.parse(await done('rollback', '--json', '--log', 'none')) as {
      run_id: string
      rolled_back: { from: string; to: string }
    }
    expect(await martsOf(data)).toEqual(first)
    const { from, to } = back.rolled_back
    expect((await list()).map((each) => [each.run_id, each.is_published])).toEqual([
      [to, true],
      [from, false],
    ])
    await utimes(join(data, 'warehouse.duckdb'), new Date(), new Date(0)) // as a restore does
    expect((await list()).map((each) => [each.run_id, each.is_published])).toEqual([
      [to, true],
      [from, false],
    ])
    const status = await done('status')
    expect(status).toContain(`warning: rolled back at `)
    expect(status).toContain(`to the file of run ${to}; the next build returns to the latest data`)
    expect(JSON.parse(await done('status', '--json'))).toMatchObject({
      published: { rollback: { runId: back.run_id, from, to } },
      runs: [{ command: 'rollback', status: 'complete', rolled_back: { from, to } }, {}, {}, {}],
    })
    for (const more of [[], ['--plan']]) {
      const part = await ask('build', '--select', 'fct_org_day', '--log', 'none', ...more)
      expect(part).toMatchObject({ code: 2 })
      expect(part.err).toContain(`the published warehouse was rolled back to run ${to}`)
    }

    const last = 'select max(activity_date) as last from fct_org_day'
    expect(JSON.parse(await done('query', last, '--json'))).toEqual([{ last: '2026-01-23' }])
    expect(await done('build', '--log', 'none')).not.toContain('full refresh')
    expect(await martsOf(data)).toEqual(second)
    expect(await list()).toHaveLength(2)
    expect(await done('status')).not.toContain('rolled back')
    const runs = `select command, status from meta.runs where command = 'rollback' order by all`
    expect(JSON.parse(await done('query', runs, '--json'))).toEqual([
      { command: 'rollback', status: 'complete' },
      { command: 'rollback', status: 'usage' },
    ])
  })

  it('is refused where no earlier file is kept', async () => {
    const { work } = await publishedNight()
    const nothing = await work('rollback')
    expect(nothing).toMatchObject({ code: 2 })
    expect(nothing.err).toContain('there is no earlier published warehouse')
  })

  it('publishes the file of a named run, of which as many are kept as configured', async () => {
    const { clock, data, work, list } = await twoNights()
    const before = await list()
    await writeFile(join(data, 'agent-warehouse.yaml'), 'keep_published: 1\n')
    clock.now += MS_PER_DAY
    await work('run', '--config', join(data, 'agent-warehouse.yaml'))
    const [second = '', ...more] = (await list()).map(({ run_id: id }) => id)
    expect(second).toBe(before[1]?.run_id)
    expect(more).toHaveLength(1)

    const kept = join(data, 'published', `${second}.duckdb`)
    const published = join(data, 'warehouse.duckdb')
    const content = await readFile(kept)
    await makeWritable(published)
    await writeFile(published, 'Dear Sir or Madam')
    expect(await work('rollback', '--to', second)).toMatchObject({ code: 0 })
    expect(await list()).toMatchObject([{ run_id: second, is_published: true, problem: null }])
    expect(content.equals(await readFile(published))).toBe(true)
    expect((await readdir(data)).filter((name) => name.endsWith('.part'))).toEqual([])
    const twice = await work('rollback', '--to', second)
    expect(twice).toMatchObject({ code: 2 })
    expect(twice.err).toContain('is the published one')
  })

  it('refuses an earlier file that was changed or replaced, and doctor names it', async () => {
    const { data, ask, work, list } = await twoNights()
    const [first] = await list()
    const kept = join(data, 'published', `${first?.run_id ?? ''}.duckdb`)
    const published = join(data, 'warehouse.duckdb')
    const [whole, present] = [await readFile(kept), await readFile(published)]
    for (const damage of [
      () => truncate(kept, whole.length >> 1),
      () => truncate(kept, 0),
      () => copyFile(published, kept),
      () => writeFile(kept, Buffer.alloc(whole.length)),
      () => writeFile(kept, Buffer.concat([whole.subarray(0, -1), Buffer.from('x')])),
    ]) {
      await rm(kept, { force: true })
      await writeFile(kept, whole)
      await damage()
      const refused = await work('rollback')
      expect(refused).toMatchObject({ code: 2 })
      expect(refused.err).toContain(`is not the file that run ${first?.run_id ?? ''} published`)
    }
    expect((await ask('doctor')).out).toContain(`${kept} is not the file that run`)
    expect(present.equals(await readFile(published))).toBe(true)
    await writeFile(kept, whole)
    expect(await work('rollback')).toMatchObject({ code: 0 })
  })

  it('puts a copy in place: a program that writes into it does not change the earlier file', async () => {
    const { data, work, first, list } = await twoNights()
    const [earlier] = await list()
    await work('rollback')
    const path = join(data, 'warehouse.duckdb')
    await makeWritable(path)
    await truncate(path, 100)
    expect(await work('rollback', '--to', earlier?.run_id ?? '')).toMatchObject({ code: 0 })
    expect(await martsOf(data)).toEqual(first)
  })
})

it('builds that find nothing new publish nothing, and both nights stay available for a rollback', async () => {
  const { data, ask, work, first, list } = await twoNights()
  const path = join(data, 'warehouse.duckdb')
  const [bytes, before] = [await readFile(path), await list()]
  expect(before.map(({ is_published: is }) => is)).toEqual([false, true])
  for (const args of [['build'], ['run']]) {
    const idle = await work(...args)
    expect(idle, idle.err).toMatchObject({ code: 0 })
    if (args[0] === 'build') {
      expect(idle.out).toContain('nothing changed, so the published warehouse stays')
      expect(bytes.equals(await readFile(path))).toBe(true)
    }
  }
  const plan = (await ask('build', '--plan')).out.trim().split('\n')
  const isReused = (line: string): boolean => /^\w+ +reuse +/.test(line)
  const others = plan.filter((line) => !isReused(line)).map((line) => line.split(' ', 1)[0])
  expect(others, 'a snapshot alone is made from what it was').toEqual(['team_entries_history'])
  await withDamagedState(data, async () => {
    expect(await ask('build', '--plan')).toMatchObject({ code: 0 })
  })
  expect(await list()).toHaveLength(2)
  expect((await ask('rollback', '--list')).out).toMatch(/^ {2}\S+ .*\n\* \S+ .*published\n$/)
  const back = await work('rollback')
  expect(back, back.err).toMatchObject({ code: 0 })
  expect(await martsOf(data)).toEqual(first)
  expect((await list()).map(({ is_published: is }) => is)).toEqual([true, false])
})

it('a full refresh that finds nothing new does not replace an earlier file', async () => {
  const { work, list } = await twoNights()
  const outcome = await work('build', '--full-refresh')
  expect(outcome, outcome.err).toMatchObject({ code: 0 })
  expect(outcome.out).toContain('warehouse published')
  expect(await list()).toHaveLength(2)
})

/** Runs while the file that describes the base files of each organisation is damaged. */
async function withDamagedState(data: string, work: () => Promise<void>): Promise<void> {
  const folder = join(data, 'state', 'base')
  for (const file of await readdir(folder)) {
    const path = join(folder, file)
    const text = await readFile(path, 'utf8')
    await writeFile(path, text.slice(0, -5))
    await work()
    await writeFile(path, text)
  }
}
