import { readdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startEmulator } from '../../src/emulator/emulator.ts'
import { command } from '../support/command.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { martsOf, MS_PER_DAY } from './published.ts'

const FIRST_NIGHT = Date.parse('2026-01-18T05:00:00Z')

/** The restatement happens between the first night and the second. */
const RESTATED: Readonly<Record<string, readonly [RegExp, string]>> = {
  users: [/"sessions":(\d+)/g, '"sessions":2$1'],
  tokens: [/"output_tokens":(\d+)/g, '"output_tokens":3$1'],
}

async function platform() {
  const clock = { now: FIRST_NIGHT }
  const emulator = await startEmulator({
    users: 6,
    now: () => clock.now,
    intercept: async ({ path, query, answer }) => {
      const [pattern, otherwise] = RESTATED[path.split('/').at(-1) ?? ''] ?? []
      const isNamed = query.has('group_by') || pattern === undefined || otherwise === undefined
      if (clock.now === FIRST_NIGHT || isNamed) return undefined
      const response = await answer()
      const text = (await response.text()).replaceAll(pattern, otherwise)
      return new Response(text, { status: response.status, headers: response.headers })
    },
  })
  onTestFinished(() => emulator.close())
  const data = await temporaryFolder()
  const cwd = await temporaryFolder()
  const environment = {
    AGENT_BASE_URL: emulator.url,
    AGENT_API_KEY: emulator.keys.manager,
    AGENT_WAREHOUSE_DATA: data,
    AGENT_WAREHOUSE_RATE: '2000',
  }
  const ask = (...args: string[]) => command(args, environment, cwd)
  const done = async (...args: string[]): Promise<string> => {
    const outcome = await ask(...args)
    expect(outcome, outcome.err).toMatchObject({ code: 0 })
    return outcome.out
  }
  const night = async () => {
    await done('run', '--log', 'none')
    const marts = await martsOf(data)
    clock.now += MS_PER_DAY
    return marts
  }
  const list = async (): Promise<Kept[]> =>
    JSON.parse(await done('rollback', '--list', '--json')) as Kept[]
  return { data, cwd, ask, done, night, list }
}

interface Kept {
  readonly run_id: string
  readonly built_at: string
  readonly is_published: boolean
}

describe('rollback', () => {
  it('publishes the previous file and says so, until a build returns to the latest data', async () => {
    const { data, ask, done, night, list } = await platform()
    const first = await night()
    const nothing = await ask('rollback', '--log', 'none')
    expect(nothing).toMatchObject({ code: 2 })
    expect(nothing.err).toContain('there is no earlier published warehouse')
    const second = await night()
    expect(second).not.toEqual(first)

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

    const early = 'select count(*) as days from meta.intervals where versions > 1'
    expect(JSON.parse(await done('query', early, '--json'))).toEqual([{ days: 0 }])
    expect(await done('build', '--log', 'none')).not.toContain('full refresh')
    expect(await martsOf(data)).toEqual(second)
    expect(await done('status')).not.toContain('rolled back')
    const runs = `select command, status from meta.runs where command = 'rollback' order by all`
    expect(JSON.parse(await done('query', runs, '--json'))).toEqual([
      { command: 'rollback', status: 'complete' },
      { command: 'rollback', status: 'usage' },
    ])
  })

  it('publishes the file of a named run, refuses damaged files, and keeps as many as configured', async () => {
    const { data, cwd, ask, done, night, list } = await platform()
    await writeFile(join(cwd, 'agent-warehouse.yaml'), 'keep_published: 1\n')
    await night()
    await done('build', '--log', 'none')
    expect((await list()).map(({ is_published: is }) => is)).toEqual([true])
    await night()
    await night()
    const [second = '', ...more] = (await list()).map(({ run_id: id }) => id)
    expect(more).toHaveLength(1)

    const unknown = await ask('rollback', '--to', '1999', '--log', 'none')
    expect(unknown).toMatchObject({ code: 2 })
    expect(unknown.err).toContain(`no published file of a run '1999' is kept`)
    expect(unknown.err).toContain(`Kept: ${second}`)

    const kept = join(data, 'published', `${second}.duckdb`)
    const published = join(data, 'warehouse.duckdb')
    const [content, present] = [await readFile(kept), await readFile(published)]
    for (const damaged of [content.subarray(0, 5000), present, Buffer.alloc(content.length)]) {
      await writeFile(kept, damaged)
      const refused = await ask('rollback', '--log', 'none')
      expect(refused).toMatchObject({ code: 2 })
      expect(refused.err).toContain(`is not the file that run ${second} published`)
    }
    expect(present.equals(await readFile(published))).toBe(true)

    await writeFile(kept, content)
    await writeFile(published, 'Dear Sir or Madam')
    await done('rollback', '--to', second, '--log', 'none')
    expect(await list()).toMatchObject([{ run_id: second, is_published: true, problem: null }])
    expect(content.equals(await readFile(published))).toBe(true)
    expect((await readdir(data)).filter((name) => name.endsWith('.part'))).toEqual([])
    const twice = await ask('rollback', '--to', second, '--log', 'none')
    expect(twice).toMatchObject({ code: 2 })
    expect(twice.err).toContain('is the published one')
  })
})
