import { readFileSync, statfsSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { limitsOf, type Bound, type Limits, type Machine } from './machine-limits.ts'

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
  const lines = (textOf(join(root, 'proc', 'self', 'cgroup')) ?? '').split('\n')
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
  const [quota, period] = (textOf(join(folder, 'cpu.max')) ?? '').split(' ').map(Number)
  return [
    ...ratio(quota, period, join(folder, 'cpu.max')),
    ...ratio(
      numberIn(join(folder, 'cpu.cfs_quota_us')),
      numberIn(join(folder, 'cpu.cfs_period_us')),
      join(folder, 'cpu.cfs_quota_us'),
    ),
  ]
}

/** Version 2 says `max` for no quota, version 1 says -1. */
function ratio(quota: number | undefined, period: number | undefined, from: string): Bound[] {
  const value = (quota ?? NaN) / (period ?? NaN)
  return value > 0 && Number.isFinite(value) ? [{ value, from }] : []
}

/** `process.constrainedMemory()` reads the innermost group alone. Version 1 says 2^63 or so for none. */
function memoryLimitsIn(folder: string): Bound[] {
  return ['memory.max', 'memory.limit_in_bytes'].flatMap((name) => {
    const from = join(folder, name)
    const value = numberIn(from) ?? NaN
    return value > 0 && value < totalmem() ? [{ value, from }] : []
  })
}

function lowest(bounds: readonly Bound[]): Bound | null {
  return [...bounds].sort((a, b) => a.value - b.value)[0] ?? null
}

/** Undefined where there is no such file. */
function numberIn(path: string): number | undefined {
  const text = textOf(path)
  return text === undefined ? undefined : Number(text)
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return undefined
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
