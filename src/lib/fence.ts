import { sep } from 'node:path'

/** Throws when the lease was lost. */
type Confirm = () => void

/** By folder: the leases that this process holds. */
const leases = new Map<string, Confirm>()

/** From now on nothing is committed in the folder without confirming the lease. @returns its end. */
export function fence(folder: string, confirm: Confirm): () => void {
  leases.set(folder, confirm)
  return () => {
    if (leases.get(folder) === confirm) leases.delete(folder)
  }
}

/**
 * To be called before a file becomes visible in a folder that is under a lease: a
 * process that was suspended may wake up after another one took its lease over.
 *
 * @throws LockedError when the lease was lost.
 */
export function confirmLease(path: string): void {
  for (const [folder, confirm] of leases) if (path.startsWith(folder + sep)) confirm()
}
