import { readFileSync } from 'node:fs'
import { mkdir, open, readFile, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { LockedError } from '../core/errors.ts'
import { isMissing } from './files.ts'

/** Who holds the lock. */
export interface Owner {
  readonly pid: number
  readonly host: string
  readonly runId: string
  readonly since: string
  /** When the process began, as the system tells it: another process may get its number. */
  readonly begun: string | null
}

export interface Lock {
  /** True when the last holder's process is gone without having released it. */
  readonly wasLeft: boolean
  readonly release: () => Promise<void>
}

/**
 * Takes the data folder's one lock for writers. A lock whose process on this
 * machine is gone was left by a crash and is taken over.
 *
 * @throws LockedError naming who holds it.
 */
export async function lock(dataFolder: string, runId: string, now: number): Promise<Lock> {
  const folder = join(dataFolder, 'state')
  const path = join(folder, 'lock')
  await mkdir(folder, { recursive: true })
  const owner: Owner = {
    pid: process.pid,
    host: hostname(),
    runId,
    since: new Date(now).toISOString(),
    begun: begunOf(process.pid) ?? null,
  }
  const isFree = await create(path, owner)
  if (!isFree) {
    const holder = await readOwner(path)
    if (holder !== undefined && !isGone(holder)) throw held(holder, path)
    await rm(path, { force: true })
    if (!(await create(path, owner))) throw held(await readOwner(path), path)
  }
  return { wasLeft: !isFree, release: () => rm(path, { force: true }) }
}

/** Who writes in the data folder now; undefined when nobody does. */
export async function lockOwner(dataFolder: string): Promise<Owner | undefined> {
  const owner = await readOwner(join(dataFolder, 'state', 'lock'))
  return owner !== undefined && isGone(owner) ? undefined : owner
}

async function create(path: string, owner: Owner): Promise<boolean> {
  try {
    const handle = await open(path, 'wx')
    await handle.writeFile(`${JSON.stringify(owner)}\n`)
    await handle.close()
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

/** Undefined for a lock file that a crash left without content, or that is gone by now. */
async function readOwner(path: string): Promise<Owner | undefined> {
  try {
    const owner: unknown = JSON.parse(await readFile(path, 'utf8'))
    return isOwner(owner) ? owner : undefined
  } catch (error) {
    if (error instanceof SyntaxError || isMissing(error)) return undefined
    throw error
  }
}

function isOwner(value: unknown): value is Owner {
  return typeof value === 'object' && value !== null && 'pid' in value && 'host' in value
}

function isGone(owner: Owner): boolean {
  if (owner.host !== hostname()) return false
  try {
    process.kill(owner.pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH'
  }
  const begun = begunOf(owner.pid)
  return begun === null || (begun !== undefined && owner.begun !== null && begun !== owner.begun)
}

/**
 * When a process began, in ticks since the machine did; null for a process that
 * has ended and that nobody has asked after (a zombie); undefined where the
 * system does not tell (it has no /proc).
 */
function begunOf(pid: number): string | null | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' || fields[0] === 'X' ? null : fields[19]
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

function held(owner: Owner | undefined, path: string): LockedError {
  const who =
    owner === undefined
      ? 'another process'
      : `run ${owner.runId} (process ${owner.pid} on ${owner.host}, since ${owner.since})`
  return new LockedError(`the data folder is in use by ${who}`, {
    hint: `Wait until it ends. If no such process runs, delete ${path}.`,
  })
}
