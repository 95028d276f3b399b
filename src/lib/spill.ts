import { randomBytes } from 'node:crypto'
import { accessSync, constants } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MS_PER_DAY } from './days.ts'
import { listIfThere } from './files.ts'

/** Where the databases of the run that holds the lock spill. */
export function spillFolder(dataFolder: string): string {
  return join(dataFolder, 'state', 'spill')
}

/**
 * Where a database spills if its process holds no lock: its own folder, which DuckDB makes
 * on demand and removes when the database is closed. The system's folder for temporary files if
 * the data folder is read-only for this user.
 */
export function ownSpillFolder(dataFolder: string): string {
  const name = `spill-${process.pid}-${randomBytes(4).toString('hex')}`
  const state = join(dataFolder, 'state')
  // a group may read the data folder, but not write to it
  return isWritable(state) ? join(state, name) : join(tmpdir(), `agent-warehouse-${name}`)
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** Removes the spill files of killed runs and readers. The caller holds the lock. */
export async function removeSpilled(dataFolder: string, now: number): Promise<void> {
  await rm(spillFolder(dataFolder), { recursive: true, force: true })
  const state = join(dataFolder, 'state')
  for (const { name } of await listIfThere(state)) {
    if (!/^spill-\d+-[0-9a-f]{8}$/.test(name)) continue
    const folder = join(state, name)
    if (!(await isInUse(folder, now))) await rm(folder, { recursive: true, force: true })
  }
}

/** A folder counts as used for a day after the last write, because its reader may run on another host. */
async function isInUse(folder: string, now: number): Promise<boolean> {
  const paths = [folder, ...(await listIfThere(folder)).map(({ name }) => join(folder, name))]
  // undefined: removed in the meantime
  const files = await Promise.all(paths.map((path) => stat(path).catch(() => undefined)))
  return Math.max(...files.map((file) => file?.mtimeMs ?? 0)) > now - MS_PER_DAY
}
