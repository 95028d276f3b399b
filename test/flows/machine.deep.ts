import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { limitsOf, processLimits, readMachine, setProcessLimits } from '../../src/lib/machine.ts'
import { spillFolder } from '../../src/lib/spill.ts'
import { ask, stage } from '../cli/command-stage.ts'
import { command } from '../support/command.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { Bench, TINY } from '../model/fixture.ts'

const own = processLimits()
afterEach(() => {
  setProcessLimits(own)
})

/** The names of all files below a folder; none where there is no such folder. */
const filesBelow = (folder: string): Promise<string[]> =>
  readdir(folder, { recursive: true }).catch(() => [])

/** The suite's own setting of threads would override that of a file. */
const AS_IN_THE_FILE = { AGENT_WAREHOUSE_THREADS: '' }

/** A folder with a configuration. */
async function configured(text: string): Promise<string> {
  const cwd = await temporaryFolder()
  await writeFile(join(cwd, 'agent-warehouse.yaml'), text)
  return cwd
}

describe('threads: 1 and memory: 256MB', () => {
  const FILE = 'threads: 1\nmemory: 256MB\n'

  it('are enough for a night, which removes old spill files, and doctor names their source', async () => {
    const { data, environment: given } = await stage()
    const environment = { ...given, ...AS_IN_THE_FILE }
    const cwd = await configured(FILE)
    await mkdir(spillFolder(data), { recursive: true })
    await writeFile(join(spillFolder(data), 'duckdb_temp_storage_DEFAULT-0.tmp'), 'left')
    const night = await command(['run', '--log', 'none'], environment, cwd)
    expect(night.code, night.err).toBe(0)
    expect(await filesBelow(spillFolder(data))).toEqual([])
    const [counted] = (await ask(environment, 'select count(*) as days from fct_org_day')) as [
      { days: number },
    ]
    expect(counted.days).toBeGreaterThan(10)

    const { code, out } = await command(['doctor'], environment, cwd)
    expect(code).toBe(0)
    const path = join(cwd, 'agent-warehouse.yaml')
    expect(out).toContain(`1 (${path} threads): landing 1, build 1, query 1`)
    expect(out).toContain(
      `256 MB for databases (${path} memory): base 256MB, landing 256MB, build 256MB, query 256MB`,
    )
    expect(out).toMatch(
      /^ok +spill +\/.*\/state\/spill, at most [\d.]+ GB, half of the free space$/m,
    )
  })

  it('are overridden by the environment', async () => {
    const { environment } = await stage()
    const variables = { AGENT_WAREHOUSE_THREADS: '1', AGENT_WAREHOUSE_MEMORY: '0.5 GB' }
    const { out } = await command(
      ['doctor'],
      { ...environment, ...variables },
      await configured(FILE),
    )
    expect(out).toContain('1 (AGENT_WAREHOUSE_THREADS): ')
    expect(out).toContain('500 MB for databases (AGENT_WAREHOUSE_MEMORY): ')
  })

  it('make a larger build spill into the data folder', async () => {
    const bound = (value: number) => ({ value, from: 'test' })
    const settings = { threads: bound(1), memory: bound(256e6) }
    setProcessLimits(limitsOf(readMachine(), settings))
    const bench = await Bench.open()
    const spilled = new Set<string>()
    const watch = setInterval(() => {
      void filesBelow(spillFolder(bench.data)).then((found) => {
        for (const path of found) spilled.add(path)
      })
    }, 5)
    const large = `select user_id, max(place) as sessions from (
        select 'u' as user_id, row_number() over (order by md5(cast(n as varchar))) as place
        from unnest(range(6000000)) as numbers(n)
      ) group by 1\n`
    await bench.build({ ...TINY, 'models/marts/fct_user.sql': large }).finally(() => {
      clearInterval(watch)
    })
    expect(await bench.rows('select * from fct_user')).toEqual([
      { user_id: 'u', sessions: '6000000' },
    ])
    expect([...spilled].join()).toContain('duckdb_temp_storage')
    expect(await filesBelow(spillFolder(bench.data))).toEqual([])
  })
})

describe('an invalid number of threads or size of memory ends with exit code 2 and one line', () => {
  it.each([
    ['threads: 0', "threads: '0' must be a whole number above 0"],
    ['threads: 1.5', "threads: '1.5' must be a whole number above 0"],
    ['threads: many', "threads: 'many' must be a whole number above 0"],
    ['threads: [2]', 'threads: '],
    ['memory: 12', "memory: '12' is not a size"],
    ['memory: lots', "memory: 'lots' is not a size"],
    ['memory: 255MB', "memory: '255MB' is too little: at least 256MB"],
  ])('%s', async (line, message) => {
    const cwd = await configured(`${line}\n`)
    const { code, out, err } = await command(['query', 'select 1'], AS_IN_THE_FILE, cwd)
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain(`agent-warehouse: ${join(cwd, 'agent-warehouse.yaml')} ${message}`)
    expect(err.trimEnd().split('\n').length).toBeLessThanOrEqual(2)
  })

  it.each([
    ['AGENT_WAREHOUSE_THREADS', '-2', "'-2' must be a whole number above 0"],
    ['AGENT_WAREHOUSE_MEMORY', '1kB', "'1kB' is not a size"],
  ])('%s=%s', async (name, value, message) => {
    const { code, out, err } = await command(['query', 'select 1'], { [name]: value })
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain(`agent-warehouse: ${name}: ${message}`)
  })
})
