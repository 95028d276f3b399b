import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

// Apart from the leases, which need more: an agent waits for what `hooks run` loads.

/** Where a process runs: process ids mean the same thing only within one place. */
export interface Place {
  readonly host: string
  /** Of the running kernel; null where the system does not report it. */
  readonly boot: string | null
  /** Containers on one kernel count their processes separately; null where unknown. */
  readonly pidNamespace: string | null
}

/** A process, by the number it has in its place. */
export interface ProcessId extends Place {
  readonly pid: number
  /** When it began, as its system reports it: another process may get its number later. */
  readonly begun: string | null
}

/** `unknown`: it runs in another place, or the system does not say enough. */
type Vitals = 'alive' | 'dead' | 'unknown'

/** The place of this process. Synchronous and cheap: an agent waits for it. */
export function thisPlace(): Place {
  return {
    host: hostname(),
    boot: orNull(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    pidNamespace: orNull(() => readlinkSync('/proc/self/ns/pid')),
  }
}

/** This process, in a place. */
export function thisProcess(place: Place): ProcessId {
  return { pid: process.pid, ...place, begun: begunOf(process.pid) ?? null }
}

/** Whether a process is alive, as far as it can be known from a place. */
export function vitalsOf(owner: ProcessId, place: Place): Vitals {
  if (!isSamePlace(owner, place)) return 'unknown'
  try {
    process.kill(owner.pid, 0)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return 'dead'
  }
  const begun = begunOf(owner.pid)
  if (begun === undefined || owner.begun === null) return 'unknown'
  return begun === owner.begun ? 'alive' : 'dead'
}

/** Containers may share a host name or a kernel, and restarts may bring both back. */
function isSamePlace(a: Place, b: Place): boolean {
  return (
    a.host === b.host &&
    a.boot !== null &&
    a.boot === b.boot &&
    a.pidNamespace !== null &&
    a.pidNamespace === b.pidNamespace
  )
}

/**
 * When a process began, in ticks since the machine did; null for a process that
 * has ended and was not reaped yet (a zombie); undefined where the system does
 * not say (it has no /proc, or hides other users' processes).
 */
function begunOf(pid: number): string | null | undefined {
  const stat = orNull(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  if (stat === null) return undefined
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields[0] === 'Z' || fields[0] === 'X' ? null : fields[19]
}

function orNull(read: () => string): string | null {
  try {
    return read()
  } catch {
    return null
  }
}
