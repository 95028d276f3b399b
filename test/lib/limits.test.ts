import { describe, expect, it } from 'vitest'
import {
  bytesOf,
  limitsOf,
  type Limits,
  type Machine,
  type MachineSettings,
} from '../../src/lib/machine.ts'

const GB = 1e9

interface Row {
  readonly machine?: Partial<Machine>
  readonly settings?: Partial<MachineSettings>
  /** Threads of landing, build and query, and statements at once of base. */
  readonly threads: [landing: number, base: number, build: number, query: number]
  readonly memory: [landing: string, base: string, build: string, query: string]
  readonly from: [threads: string, memory: string]
}

const MACHINE: Machine = {
  processors: 2,
  memory: 20 * GB,
  processorQuota: null,
  memoryLimit: null,
  freeDisk: 50 * GB,
}
const NONE: MachineSettings = { threads: null, memory: null }
const given = (value: number) => ({ value, from: 'setting' })
const group = (value: number) => ({ value, from: 'group' })

const ROWS: Readonly<Record<string, Row>> = {
  'two processors': {
    threads: [2, 2, 2, 2],
    memory: ['512MB', '256MB', '1024MB', '16000MB'],
    from: ['the machine', '80 % of the machine'],
  },
  'a large machine: landing and base stay frugal, a build grows with the threads': {
    machine: { processors: 64, memory: 256 * GB },
    threads: [8, 4, 64, 64],
    memory: ['512MB', '256MB', '32768MB', '204800MB'],
    from: ['the machine', '80 % of the machine'],
  },
  'many processors and little memory': {
    machine: { processors: 16, memory: 4 * GB },
    threads: [8, 4, 16, 16],
    memory: ['512MB', '256MB', '3200MB', '3200MB'],
    from: ['the machine', '80 % of the machine'],
  },
  'a container of one and a half processors and a gigabyte': {
    machine: { processors: 16, processorQuota: group(1.5), memoryLimit: group(GB) },
    threads: [2, 2, 2, 2],
    memory: ['512MB', '256MB', '800MB', '800MB'],
    from: ['group', '80 % of group'],
  },
  'a container of less than one processor': {
    machine: { processors: 16, processorQuota: group(0.2) },
    threads: [1, 1, 1, 1],
    memory: ['512MB', '256MB', '1024MB', '16000MB'],
    from: ['group', '80 % of the machine'],
  },
  'a container that may take more than there is': {
    machine: { processorQuota: group(8), memoryLimit: group(64 * GB) },
    threads: [2, 2, 2, 2],
    memory: ['512MB', '256MB', '1024MB', '16000MB'],
    from: ['the machine', '80 % of the machine'],
  },
  'settings below the machine': {
    settings: { threads: given(1), memory: given(0.256 * GB) },
    threads: [1, 1, 1, 1],
    memory: ['256MB', '256MB', '256MB', '256MB'],
    from: ['setting', 'setting'],
  },
  'a setting is what a build may take': {
    settings: { memory: given(8 * GB) },
    threads: [2, 2, 2, 2],
    memory: ['512MB', '256MB', '8000MB', '8000MB'],
    from: ['the machine', 'setting'],
  },
  'settings beyond the machine': {
    settings: { threads: given(32), memory: given(64 * GB) },
    threads: [2, 2, 2, 2],
    memory: ['512MB', '256MB', '16000MB', '16000MB'],
    from: ['the machine', '80 % of the machine'],
  },
  'a setting that says what is there': {
    settings: { threads: given(2) },
    threads: [2, 2, 2, 2],
    memory: ['512MB', '256MB', '1024MB', '16000MB'],
    from: ['setting', '80 % of the machine'],
  },
}

const limitsIn = ({ machine, settings }: Pick<Row, 'machine' | 'settings'>): Limits =>
  limitsOf({ ...MACHINE, ...machine }, { ...NONE, ...settings })

describe('the limits of a stage', () => {
  it.each(Object.entries(ROWS))('%s', (_, row) => {
    const { threads, memory, landing, base, build, query } = limitsIn(row)
    expect({
      threads: [landing.threads, base.concurrency, build.threads, query.threads],
      memory: [landing.memoryLimit, base.memoryLimit, build.memoryLimit, query.memoryLimit],
      from: [threads.from, memory.from],
    }).toEqual({ threads: row.threads, memory: row.memory, from: row.from })
  })

  it('give the build of many organisations less memory, or all that is set', () => {
    const of = (row: Pick<Row, 'machine' | 'settings'>) => limitsIn(row).buildOfFleet.memoryLimit
    expect(of({})).toBe('384MB')
    expect(of({ machine: { processors: 8 } })).toBe('1536MB')
    expect(of({ settings: { memory: given(8 * GB) } })).toBe('8000MB')
  })

  it('never exceed the limit of the process', () => {
    const settings = { memory: given(0.256 * GB) }
    const { base, verification: proofs, verificationOfOne: proof } = limitsIn({ settings })
    expect(base.memoryForHugeRows).toBe('256MB')
    expect([proofs.memoryLimit, proof.memoryLimit]).toEqual(['256MB', '128MB'])
  })

  it('give base one connection per thread, at most four', () => {
    const concurrency = (threads: number): number =>
      limitsIn({ machine: { processors: 8 }, settings: { threads: given(threads) } }).base
        .concurrency
    expect([1, 2, 4, 8].map(concurrency)).toEqual([1, 2, 4, 4])
  })

  it('let queries spill to half of the free disk, or as DuckDB does if that is unknown', () => {
    expect(limitsIn({}).spill).toBe(25 * GB)
    expect(limitsIn({ machine: { freeDisk: null } }).spill).toBeNull()
  })
})

describe('a size', () => {
  it.each([
    ['512MB', 512e6],
    ['1.5 GB', 1.5e9],
    [' 2gib ', 2 * 2 ** 30],
    ['300MiB', 300 * 2 ** 20],
    ['1TB', 1e12],
    ['512', undefined],
    ['1kB', undefined],
    ['-1GB', undefined],
    ['GB', undefined],
    ['1 GB or so', undefined],
  ])('%s', (text, bytes) => {
    expect(bytesOf(text)).toBe(bytes)
  })
})
