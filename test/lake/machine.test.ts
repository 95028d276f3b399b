import { mkdir, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { limitsOf, processLimits, readMachine, setProcessLimits } from '../../src/lib/machine.ts'
import { Database } from '../../src/lib/duckdb.ts'
import { listIfThere } from '../../src/lib/files.ts'
import { ownSpillFolder, removeSpilled, spillFolder } from '../../src/lib/spill.ts'
import { temporaryFolder } from '../support/helpers.ts'

/** A file system with these files. */
async function rootWith(files: Readonly<Record<string, string>>): Promise<string> {
  const root = await temporaryFolder()
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), `${text}\n`)
  }
  return root
}

const MIB = 2 ** 20
const NO_LIMIT = '9223372036854771712'

describe('the limits of the machine are read from', () => {
  it.each([
    [
      'control groups version 2, in a container',
      {
        'proc/self/cgroup': '0::/',
        'sys/fs/cgroup/cpu.max': '150000 100000',
        'sys/fs/cgroup/memory.max': `${512 * MIB}`,
      },
      [1.5, 'cpu.max', 512, 'memory.max'],
    ],
    [
      'control groups version 2, with a limited parent slice',
      {
        'proc/self/cgroup': '0::/work.slice/job.service',
        'sys/fs/cgroup/work.slice/cpu.max': '50000 100000',
        'sys/fs/cgroup/work.slice/memory.max': `${256 * MIB}`,
        'sys/fs/cgroup/work.slice/job.service/cpu.max': 'max 100000',
        'sys/fs/cgroup/work.slice/job.service/memory.max': `${512 * MIB}`,
      },
      [0.5, 'work.slice/cpu.max', 256, 'work.slice/memory.max'],
    ],
    [
      'control groups version 2, without limits',
      {
        'proc/self/cgroup': '0::/',
        'sys/fs/cgroup/cpu.max': 'max 100000',
        'sys/fs/cgroup/memory.max': 'max',
      },
      [],
    ],
    [
      'control groups version 1, in a container',
      {
        'proc/self/cgroup': '5:memory:/docker/ab\n4:cpu,cpuacct:/docker/ab\n0::/',
        'sys/fs/cgroup/cpu/cpu.cfs_quota_us': '200000',
        'sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000',
        'sys/fs/cgroup/memory/memory.limit_in_bytes': `${768 * MIB}`,
      },
      [2, 'cpu/cpu.cfs_quota_us', 768, 'memory/memory.limit_in_bytes'],
    ],
    [
      'control groups version 1, without limits',
      {
        'proc/self/cgroup': '5:memory:/\n4:cpu,cpuacct:/',
        'sys/fs/cgroup/cpu/cpu.cfs_quota_us': '-1',
        'sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000',
        'sys/fs/cgroup/memory/memory.limit_in_bytes': NO_LIMIT,
      },
      [],
    ],
    ['the system, where there are no control groups', {}, []],
  ] as const)('%s', async (_, files, expected) => {
    const root = await rootWith(files)
    const { processors, memory, processorQuota, memoryLimit } = readMachine(undefined, root)
    expect(processors).toBeGreaterThan(0)
    expect(memory).toBeGreaterThan(MIB)
    const [quota = null, quotaIn = '', mebibytes = null, limitIn = ''] = expected
    const group = (name: string): string => join(root, 'sys/fs/cgroup', name)
    const from = { quota: group(quotaIn), limit: group(limitIn) }
    expect(processorQuota).toEqual(quota === null ? null : { value: quota, from: from.quota })
    expect(memoryLimit).toEqual(
      mebibytes === null ? null : { value: mebibytes * MIB, from: from.limit },
    )
  })

  it('the disk, even of a folder that does not exist yet', async () => {
    const folder = await temporaryFolder()
    expect(readMachine(join(folder, 'a', 'b')).freeDisk).toBeGreaterThan(0)
  })
})

const own = processLimits()
afterEach(() => {
  setProcessLimits(own)
})

/** Limits of a process with little memory, and so much room to spill. */
function tight(spill: number): void {
  const machine = { ...readMachine(), freeDisk: 2 * spill }
  const bound = (value: number) => ({ value, from: 'test' })
  setProcessLimits(limitsOf(machine, { threads: bound(1), memory: bound(64e6) }))
}

/** Sorts some 200 MB. */
const SORT = `select max(r) as n from (
  select row_number() over (order by md5(cast(range as varchar))) as r from range(2000000))`

describe('a database', () => {
  it('keeps to the limits of the process, and removes its spill folder when it is closed', async () => {
    tight(2e9)
    const data = await temporaryFolder()
    await mkdir(join(data, 'state'))
    const tempDirectory = ownSpillFolder(data)
    const spilled = new Set<string>()
    const database = await Database.open(':memory:', { tempDirectory })
    const [settings] = await database.rows(
      `select current_setting('threads') as threads, current_setting('memory_limit') as memory,
        current_setting('max_temp_directory_size') as spill`,
    )
    expect(settings).toEqual({ threads: '1', memory: '61.0 MiB', spill: '1.8 GiB' })
    const watch = setInterval(() => {
      void listIfThere(tempDirectory).then((found) => {
        for (const { name } of found) spilled.add(name)
      })
    }, 5)
    const rows = await database.rows(SORT).finally(() => {
      clearInterval(watch)
    })
    database.close()
    expect(rows).toEqual([{ n: '2000000' }])
    expect([...spilled].join()).toContain('duckdb_temp_storage')
    expect(await listIfThere(join(data, 'state'))).toEqual([])
  })

  it('fails when it would spill more than the limit', async () => {
    tight(5e6)
    const tempDirectory = await temporaryFolder()
    const database = await Database.open(':memory:', { tempDirectory })
    await expect(database.rows(SORT)).rejects.toThrow('max_temp_directory_size')
    database.close()
  })
})

it('a reader spills elsewhere if it cannot write to the folder state', async () => {
  const data = await temporaryFolder()
  expect(dirname(ownSpillFolder(data))).toBe(tmpdir())
  await mkdir(join(data, 'state'))
  expect(dirname(ownSpillFolder(data))).toBe(join(data, 'state'))
})

it('spill files of killed processes are removed, and those of a running reader are not', async () => {
  const data = await temporaryFolder()
  await mkdir(join(data, 'state'))
  const now = Date.now()
  const folders = [spillFolder(data), ownSpillFolder(data), ownSpillFolder(data)]
  const [ofJob = '', left = '', inUse = ''] = folders
  for (const folder of folders) {
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'duckdb_temp_storage_DEFAULT-0.tmp'), 'x')
  }
  const long = new Date(now - 2 * 86_400_000)
  for (const path of [left, join(left, 'duckdb_temp_storage_DEFAULT-0.tmp'), inUse])
    await utimes(path, long, long)
  await removeSpilled(data, now)
  const names = (await listIfThere(join(data, 'state'))).map(({ name }) =>
    join(data, 'state', name),
  )
  expect(names).toEqual([inUse])
  expect(names).not.toContain(ofJob)
})
