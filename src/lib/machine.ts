import { readFileSync, statfsSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import { dirname, join } from 'node:path'

/** A value and its origin, in words. */
export interface Bound {
  readonly value: number
  readonly from: string
}

/** The machine that the process runs on. Memory and disk in bytes. */
export type Machine = Readonly<ReturnType<typeof readMachine>>

/** The limits of the configuration; memory in bytes. */
export type MachineSettings = Readonly<Record<'threads' | 'memory', Bound | null>>

/** The limits of one database; memory as DuckDB spells it. */
export interface DatabaseLimits {
  readonly threads: number
  readonly memoryLimit: string
  /** Whether freed memory returns to the system at once. */
  readonly freed?: 'at once'
}

export type Limits = Readonly<ReturnType<typeof limitsOf>>

const MB = 1_000_000

/** The share of the machine's memory for databases; the rest is for Node.js and other processes. */
const SHARE = 0.8

/** The lowest memory setting that works. */
export const LEAST_MEMORY = 256 * MB

/**
 * The limits of the stages of a process. Landing and base need little memory on any machine;
 * a build needs more with more threads, and may use all that the configuration allows.
 */
export function limitsOf(machine: Machine, settings: MachineSettings) {
  const { processors, processorQuota, memoryLimit, freeDisk } = machine
  const threads = least([
    { value: processors, from: 'the machine' },
    processorQuota && { ...processorQuota, value: Math.max(1, Math.ceil(processorQuota.value)) },
    settings.threads,
  ])
  const memory = least([
    shareOf({ value: machine.memory, from: 'the machine' }),
    memoryLimit && shareOf(memoryLimit),
    settings.memory,
  ])
  const atMost = (most: number): string => inMegabytes(Math.min(most, memory.value))
  const forBuild = (each: number): string =>
    atMost(settings.memory === null ? Math.max(2, threads.value) * each * MB : Infinity)
  return {
    threads,
    /** Bytes for the databases of any stage. */
    memory,
    landing: { threads: Math.min(threads.value, 8), memoryLimit: atMost(512 * MB) },
    base: {
      memoryLimit: atMost(256 * MB),
      /** A row is read as a whole, and can name a hundred thousand people. */
      memoryForHugeRows: atMost(4000 * MB),
      // concurrent statements take less CPU time than one on several threads; they are few,
      // because they share the memory
      concurrency: Math.min(threads.value, 4),
    },
    /** Models and their checks, and the comparison of `verify`. */
    build: { threads: threads.value, memoryLimit: forBuild(512) },
    /** The same with thousands of small files, which take memory beyond the limit of the database. */
    buildOfFleet: { threads: threads.value, memoryLimit: forBuild(192), freed: 'at once' as const },
    query: { threads: threads.value, memoryLimit: atMost(Infinity) },
    /** Verifying many raw files together, and one alone. */
    verification: { threads: Math.min(threads.value, 2), memoryLimit: atMost(512 * MB) },
    verificationOfOne: { threads: 1, memoryLimit: atMost(128 * MB) },
    /** Bytes that a database may spill; null: DuckDB's own limit. */
    spill: freeDisk === null ? null : Math.floor(freeDisk / 2),
  }
}

/** Bytes as DuckDB reads them, in whole megabytes. */
export function inMegabytes(bytes: number): string {
  return `${Math.floor(bytes / MB)}MB`
}

const UNITS = { mb: 1e6, gb: 1e9, tb: 1e12, mib: 2 ** 20, gib: 2 ** 30, tib: 2 ** 40 } as const

/** Parses `512MB` or `1.5 GiB` to bytes; undefined for other text. */
export function bytesOf(text: string): number | undefined {
  const [, amount, name] = /^(\d+(?:\.\d+)?) ?([mgt]i?b)$/i.exec(text.trim()) ?? []
  const unit = Object.entries(UNITS).find(([each]) => each === name?.toLowerCase())
  return unit === undefined ? undefined : Math.floor(Number(amount) * unit[1])
}

/** The smallest bound; of equal ones the last, which is closest to the user. */
function least(bounds: readonly [Bound, ...(Bound | null)[]]): Bound {
  const [first, ...others] = bounds
  return others.reduce<Bound>(
    (found, each) => (each !== null && each.value <= found.value ? each : found),
    first,
  )
}

function shareOf({ value, from }: Bound): Bound {
  return { value: value * SHARE, from: `${SHARE * 100} % of ${from}` }
}

/** The limits of this process, which the command sets once. */
let current: Limits | undefined

/** The limits that were set, or else those of the machine. */
export function processLimits(): Limits {
  current ??= limitsOf(readMachine(), { threads: null, memory: null })
  return current
}

/** Sets the limits of every database that is opened later. */
export function setProcessLimits(limits: Limits): void {
  current = limits
}

/**
 * Reads the machine, and the control groups of the process (see cgroups(7)), whose limits may
 * be lower. `root` is the root of the file system; tests pass another one.
 */
export function readMachine(dataFolder?: string, root = '/') {
  const groups = groupsOf(root)
  return {
    processors: availableParallelism(),
    memory: totalmem(),
    /** Processors that a control group allows; may be a fraction. */
    processorQuota: lowest(groups.flatMap(quotasIn)),
    memoryLimit: lowest(groups.flatMap(memoryLimitsIn)),
    /** Free space on the disk of the data folder; null if unknown. */
    freeDisk: (dataFolder === undefined ? null : freeRoom(dataFolder)?.bytes) ?? null,
  }
}

/**
 * The folders of the process's groups and of all groups above them, which limit it too. Within a
 * container the path may be that of the host; then the root of the mount is the container's group.
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

/** NaN if there is no such file, or no number in it. */
function numberIn(path: string): number {
  const text = textOf(path)
  return text === '' ? NaN : Number(text)
}

/** Empty if there is no such file. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return ''
  }
}

export interface Room {
  readonly bytes: number
  /** Files and folders that can still be made; null for a file system without a fixed number. */
  readonly inodes: number | null
}

/** What is free on the disk of a folder, which need not exist yet; null if unknown. */
export function freeRoom(folder: string): Room | null {
  try {
    const { bavail, bsize, files, ffree } = statfsSync(folder)
    return { bytes: bavail * bsize, inodes: files === 0 ? null : ffree }
  } catch {
    return dirname(folder) === folder ? null : freeRoom(dirname(folder))
  }
}
