import { readFileSync } from 'node:fs'
import { constants, copyFile, link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { z } from 'zod'
import { LockedError } from '../core/errors.ts'
import { asideOf, asidePath, codeOf, isMissing, listIfThere, writeAtomic } from './files.ts'

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
  return lockFile(join(dataFolder, 'state', 'lock'), runId, now)
}

/** The same with the lock at another path. @throws LockedError naming who holds it. */
export async function lockFile(path: string, runId: string, now: number): Promise<Lock> {
  await mkdir(dirname(path), { recursive: true })
  const owner: Owner = {
    pid: process.pid,
    host: hostname(),
    runId,
    since: new Date(now).toISOString(),
    begun: begunOf(process.pid) ?? null,
  }
  const isFree = await create(path, owner)
  if (!isFree) await takeOver(path, owner, now)
  await removeUnfinished(path)
  return { wasLeft: !isFree, release: () => rm(path, { force: true }) }
}

/**
 * Of those who find the same lock left, one takes it over: who holds the lock on
 * the lock. At no moment is there no lock, so that the next run hears of a crash.
 * One that crashes over this leaves a lock on the lock, to be taken over likewise.
 *
 * @throws LockedError naming who holds it.
 */
async function takeOver(path: string, owner: Owner, now: number): Promise<void> {
  const holder = await readOwner(path)
  if (holder !== undefined && !isGone(holder)) throw held(holder, path, now)
  const own = `${path}.over`
  if (!(await create(own, owner))) await takeOver(own, owner, now)
  try {
    const still = await readOwner(path)
    if (still?.runId !== holder?.runId) throw held(still, path, now)
    await writeAtomic(path, textOf(owner))
  } finally {
    await rm(own, { force: true })
  }
}

/** Who writes in the data folder now; undefined when nobody does. */
export async function lockOwner(dataFolder: string): Promise<Owner | undefined> {
  const owner = await readOwner(join(dataFolder, 'state', 'lock'))
  return owner !== undefined && isGone(owner) ? undefined : owner
}

/** Whose process is gone without having released the lock; undefined when nobody's is. */
export async function lockLeftBy(dataFolder: string): Promise<Owner | undefined> {
  const owner = await readOwner(join(dataFolder, 'state', 'lock'))
  return owner !== undefined && isGone(owner) ? owner : undefined
}

/** Locks that were being written when their process was killed; or that come too late now. */
async function removeUnfinished(path: string): Promise<void> {
  for (const { name } of await listIfThere(dirname(path))) {
    if (asideOf(name) === basename(path)) await rm(join(dirname(path), name), { force: true })
  }
}

/** False where there is one. A lock has its text from its first moment: without one it was cut off. */
async function create(path: string, owner: Owner): Promise<boolean> {
  const aside = asidePath(path)
  try {
    await writeFile(aside, textOf(owner), { flag: 'wx' })
    return await put(aside, path)
  } finally {
    await rm(aside, { force: true })
  }
}

/** False where there is one already, or where who took it since has removed what was to be one. */
async function put(aside: string, path: string): Promise<boolean> {
  try {
    await link(aside, path).catch((error: unknown) => {
      if (!NO_LINKS.has(codeOf(error) ?? '')) throw error
      return copyFile(aside, path, constants.COPYFILE_EXCL)
    })
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST' || isMissing(error)) return false
    throw error
  }
}

/** What a file system says that has no hard links. */
const NO_LINKS: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])

function textOf(owner: Owner): string {
  return `${JSON.stringify(owner)}\n`
}

/** Undefined for a lock file that a crash left without content, or that is gone by now. */
async function readOwner(path: string): Promise<Owner | undefined> {
  try {
    return lockOwnerShape.safeParse(JSON.parse(await readFile(path, 'utf8'))).data
  } catch (error) {
    if (error instanceof SyntaxError || isMissing(error)) return undefined
    throw error
  }
}

const lockOwnerShape = z.object({
  pid: z.number().int().positive(),
  host: z.string(),
  runId: z.string(),
  since: z.string(),
  begun: z.string().nullable(),
})

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

function held(owner: Owner | undefined, path: string, now: number): LockedError {
  const who = owner === undefined ? 'another process' : describeOwner(owner, now)
  return new LockedError(`the data folder is in use by ${who}`, {
    hint: `Wait until it ends. If no such process runs, delete ${path}.`,
  })
}

/** Who it is and for how long, e.g. `run 2026… (process 7 on host, since 2026-…, 3 h 5 min)`. */
export function describeOwner({ runId, pid, host, since }: Owner, now: number): string {
  const minutes = Math.floor((now - Date.parse(since)) / 60_000)
  const age = minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
  return `run ${runId} (process ${pid} on ${host}, since ${since}${minutes >= 0 ? `, ${age}` : ''})`
}
