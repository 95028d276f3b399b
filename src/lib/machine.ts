import { readFileSync, statfsSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import { dirname, join } from 'node:path'

/** A value, and where it comes from, in words. */
export interface Bound {
  readonly value: number
  readonly from: string
}

/** What there is where the process runs. Memory and disk in bytes. */
export interface Machine {
  readonly processors: number
  readonly memory: number
  /** Processors that a control group gives it; may be a fraction. */
  readonly processorQuota: Bound | null
  readonly memoryLimit: Bound | null
  /** Free space where the data folder is; null where it is not known. */
  readonly freeDisk: number | null
}

/** What the configuration allows. */
export interface MachineSettings {
  readonly threads: Bound | null
  /** Bytes. */
  readonly memory: Bound | null
}

/** What one database may take: threads, and memory as DuckDB spells it. */
export interface DatabaseLimits {
  readonly threads: number
  readonly memoryLimit: string
}

/** What each stage may take of the machine. */
export interface Limits {
  readonly threads: Bound
  /** Bytes for databases, whatever the stage. */
  readonly memory: Bound
  readonly landing: DatabaseLimits
  readonly base: {
    readonly memoryLimit: string
    /** One row of a day can name a hundred thousand people: it is read whole. */
    readonly memoryForHugeRows: string
    /** Statements at once, each on one thread. */
    readonly concurrency: number
  }
  /** Models and their checks, and the comparison of `verify`. */
  readonly build: DatabaseLimits
  readonly query: DatabaseLimits
  /** Raw files that are opened to verify them, many at once and one alone. */
  readonly verification: DatabaseLimits
  readonly verificationOfOne: DatabaseLimits
  /** Bytes that a database may spill; null: as DuckDB does. */
  readonly spill: number | null
}

const MB = 1_000_000

/** Of the machine's memory; the rest is for Node.js and everybody else. */
const SHARE = 0.8

/** A setting below it would not do. */
export const LEAST_MEMORY = 256 * MB

/**
 * What the stages of a process may take, on this machine and with these settings. Landing and
 * base take little memory however large the machine is; a build takes more where more threads
 * need it, and all of what the configuration allows.
 */
export function limitsOf(machine: Machine, settings: MachineSettings): Limits {
  const { processors, processorQuota, memoryLimit, freeDisk } = machine
  const threads = least([
    { value: processors, from: 'the machine' },
    roundedUp(processorQuota),
    settings.threads,
  ])
  const memory = least([
    shareOf({ value: machine.memory, from: 'the machine' }),
    memoryLimit === null ? null : shareOf(memoryLimit),
    settings.memory,
  ])
  const atMost = (most: number): string => inMegabytes(Math.min(most, memory.value))
  const forBuild = settings.memory === null ? Math.max(2, threads.value) * 512 * MB : Infinity
  return {
    threads,
    memory,
    landing: { threads: Math.min(threads.value, 8), memoryLimit: atMost(512 * MB) },
    base: {
      memoryLimit: atMost(256 * MB),
      memoryForHugeRows: atMost(4000 * MB),
      // several statements side by side take less CPU time than one on several threads; few,
      // because they share the memory
      concurrency: Math.min(threads.value, 4),
    },
    build: { threads: threads.value, memoryLimit: atMost(forBuild) },
    query: { threads: threads.value, memoryLimit: atMost(Infinity) },
    verification: { threads: Math.min(threads.value, 2), memoryLimit: atMost(512 * MB) },
    verificationOfOne: { threads: 1, memoryLimit: atMost(128 * MB) },
    spill: freeDisk === null ? null : Math.floor(freeDisk / 2),
  }
}

/** Bytes as DuckDB reads them, in whole megabytes. */
export function inMegabytes(bytes: number): string {
  return `${Math.floor(bytes / MB)}MB`
}

const UNITS = { mb: 1e6, gb: 1e9, tb: 1e12, mib: 2 ** 20, gib: 2 ** 30, tib: 2 ** 40 } as const

/** `512MB`, `1.5 GiB` as bytes; undefined for what is no size. */
export function bytesOf(text: string): number | undefined {
  const [, amount, name] = /^(\d+(?:\.\d+)?) ?([mgt]i?b)$/i.exec(text.trim()) ?? []
  const unit = Object.entries(UNITS).find(([each]) => each === name?.toLowerCase())
  return unit === undefined ? undefined : Math.floor(Number(amount) * unit[1])
}

/** The smallest; of equal ones the last, which is nearer to the user. */
function least(bounds: readonly [Bound, ...(Bound | null)[]]): Bound {
  const [first, ...others] = bounds
  return others.reduce<Bound>(
    (found, each) => (each !== null && each.value <= found.value ? each : found),
    first,
  )
}

function roundedUp(bound: Bound | null): Bound | null {
  return bound === null ? null : { ...bound, value: Math.max(1, Math.ceil(bound.value)) }
}

function shareOf({ value, from }: Bound): Bound {
  return { value: value * SHARE, from: `${SHARE * 100} % of ${from}` }
}

/** What this process may take, as the umask is this process's: set once, by the command. */
let current: Limits | undefined

/** The limits that were set; before, and where nothing sets any, those of the machine. */
export function processLimits(): Limits {
  current ??= limitsOf(readMachine(), { threads: null, memory: null })
  return current
}

/** Whatever is opened from now on keeps to these limits. */
export function setProcessLimits(limits: Limits): void {
  current = limits
}

/**
 * The machine, and the control groups that the process is in (see cgroups(7)), whose limits may
 * be lower. `root` is the root of the file system: another one in tests.
 */
export function readMachine(dataFolder?: string, root = '/'): Machine {
  const groups = groupsOf(root)
  return {
    processors: availableParallelism(),
    memory: totalmem(),
    processorQuota: lowest(groups.flatMap(quotasIn)),
    memoryLimit: lowest(groups.flatMap(memoryLimitsIn)),
    freeDisk: dataFolder === undefined ? null : freeDisk(dataFolder),
  }
}

/**
 * The folders of the process's groups, which each group above them bounds, too. Within a
 * container the path may be that of the host: then the root of the mount is the container's own.
 */
function groupsOf(root: string): string[] {
  const mount = join(root, 'sys', 'fs', 'cgroup')
  const lines = textOf(join(root, 'proc', 'self', 'cgroup')).split('\n')
  const folders = lines.flatMap((line) => {
    const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? []
    if (controllers === undefined || path === undefined) return []
    const names = controllers.split(',').filter((name) => name === 'cpu' || name === 'memory')
    // version 2 has one tree, which names no controller
    const trees = controllers === '' ? [mount] : names.map((name) => join(mount, name))
    return trees.flatMap((tree) => ancestors(path).map((each) => join(tree, each)))
  })
  return [...new Set(folders)]
}

/** `/a/b` and all above it. */
function ancestors(path: string): string[] {
  return path === '/' ? ['/'] : [path, ...ancestors(dirname(path))]
}

/** Processors: a quota of microseconds in each period. */
function quotasIn(folder: string): Bound[] {
  const version2 = join(folder, 'cpu.max')
  const version1 = join(folder, 'cpu.cfs_quota_us')
  const [quota = NaN, period = NaN] = textOf(version2).split(' ').map(Number)
  return [
    ...ratio(quota, period, version2),
    ...ratio(numberIn(version1), numberIn(join(folder, 'cpu.cfs_period_us')), version1),
  ]
}

/** Version 2 says `max` for no quota, version 1 says -1. */
function ratio(quota: number, period: number, from: string): Bound[] {
  const value = quota / period
  return value > 0 && Number.isFinite(value) ? [{ value, from }] : []
}

/** `process.constrainedMemory()` reads the innermost group alone. Version 1 says 2^63 or so for none. */
function memoryLimitsIn(folder: string): Bound[] {
  return ['memory.max', 'memory.limit_in_bytes'].flatMap((name) => {
    const from = join(folder, name)
    const value = numberIn(from)
    return value > 0 && value < totalmem() ? [{ value, from }] : []
  })
}

function lowest(bounds: readonly Bound[]): Bound | null {
  return [...bounds].sort((a, b) => a.value - b.value)[0] ?? null
}

/** NaN where there is no such file, or no number in it. */
function numberIn(path: string): number {
  const text = textOf(path)
  return text === '' ? NaN : Number(text)
}

/** Empty where there is no such file. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return ''
  }
}

/** Of a folder that is not there yet, that of the nearest one above it; null where no one knows. */
function freeDisk(folder: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize
  } catch {
    return dirname(folder) === folder ? null : freeDisk(dirname(folder))
  }
}
