import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

// Not in the files of leases, which import more: an agent waits for what `hooks run` loads.

/** Where a process runs: process ids are unique only within one place. */
export type Place = Readonly<ReturnType<typeof thisPlace>>

export interface ProcessId extends Place {
  readonly pid: number
  /** When it began, as its system reports it: another process may get the same id later. */
  readonly begun: string | null
}

/** `unknown`: the process runs in another place, or the system does not report enough. */
type Vitals = 'alive' | 'dead' | 'unknown'

/** The place of this process. Synchronous and cheap: an agent waits for it. */
export function thisPlace() {
  return {
    host: hostname(),
    /** The id of the kernel's start; null if the system does not report it. */
    boot: orNull(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    /** Containers on one kernel number their processes separately; null if unknown. */
    pidNamespace: orNull(() => readlinkSync('/proc/self/ns/pid')),
  }
}

export function thisProcess(place: Place): ProcessId {
  return { pid: process.pid, ...place, begun: begunOf(process.pid) ?? null }
}

/** Whether a process is alive, as far as this place can tell. */
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

/** Containers may share a host name or a kernel, and restarts may repeat both. */
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
 * When a process began, in ticks since the machine started; null for a process that
 * has ended and was not reaped yet (a zombie); undefined if the system does not
 * report it (it has no /proc, or hides other users' processes).
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
