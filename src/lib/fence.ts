import { sep } from 'node:path'

/** The leases that this process holds, by folder: functions that throw when the lease was lost. */
const leases = new Map<string, () => void>()

/** From now on every commit in the folder confirms the lease first. Returns the function that ends this. */
export function fence(folder: string, confirm: () => void): () => void {
  leases.set(folder, confirm)
  return () => {
    if (leases.get(folder) === confirm) leases.delete(folder)
  }
}

/**
 * Call this before a file becomes visible in a folder under a lease: a process that was
 * suspended may wake up after another one took over its lease.
 *
 * @throws LockedError when the lease was lost.
 */
export function confirmLease(path: string): void {
  for (const [folder, confirm] of leases) if (path.startsWith(folder + sep)) confirm()
}
