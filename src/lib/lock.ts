import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { z } from 'zod'
import { LockedError, messageOf } from './errors.ts'
import { fence } from './fence.ts'
import {
  createWhole,
  isMissing,
  removeFile,
  removeTemporariesOf,
  unlessFolder,
  writeAtomic,
} from './files.ts'
import { jsonObject } from './json.ts'
import { thisPlace, thisProcess, vitalsOf, type Place } from './place.ts'
import type { Warn, World } from './world.ts'

export type Lease = Readonly<ReturnType<typeof hold>>

export interface LeaseOptions {
  readonly runId: string
  readonly world: Pick<World, 'now' | 'sleep' | 'signal'>
  /** Called when a holder on another host is watched, and when the heartbeat stops. */
  readonly warn: Warn
  /** Called as soon as the lease is known to be lost. */
  readonly onLost?: (error: LockedError) => void
  readonly place?: Place
  /** How often the lease is renewed. Default 5 s. */
  readonly beatMs?: number
  /** The folder in which nothing is committed once the lease is lost. Default: that of the lock. */
  readonly folder?: string
}

const BEAT_MS = 5_000

/** A holder on another host that is silent for longer is dead, or will stop when it wakes up. */
const SILENT_MS = 120_000

/** How long a lease that is already that old is still watched: several heartbeats. */
const LOOK_MS = 15_000

const POLL_MS = 1_000

/**
 * Takes the data folder's only lease for writers. A lease of a process in this place
 * (host, boot and process namespace) is taken over at once if the process has
 * ended, and never while it lives. A lease from another place is watched: one heartbeat
 * shows that its holder lives; without one, the lease is taken over.
 *
 * @throws LockedError naming the holder.
 */
export async function lock(dataFolder: string, options: LeaseOptions): Promise<Lease> {
  return lockFile(pathIn(dataFolder), { folder: dataFolder, ...options })
}

function pathIn(dataFolder: string): string {
  return join(dataFolder, 'state', 'lock')
}

/** Takes the lease at a path. @throws LockedError naming the holder. */
export async function lockFile(path: string, options: LeaseOptions): Promise<Lease> {
  const { runId, world, place = thisPlace() } = options
  const since = new Date(world.now()).toISOString()
  const owner = { ...thisProcess(place), runId, since, token: randomUUID() }
  const isFree = await createWhole(path, textOf(owner))
  const wasLeft = !isFree && (await takeOver(path, owner, { ...options, place }))
  await removeTemporariesOf(path)
  return hold(path, owner, wasLeft, options)
}

/** Renews the lease until it is released. */
function hold(path: string, owner: Owner, wasLeft: boolean, options: LeaseOptions) {
  const { world, warn, onLost, beatMs: everyMs = BEAT_MS, folder = dirname(path) } = options
  const confirm = (): void => {
    const present = textNow(path)
    if (present === textOf(owner)) return
    const error = takenOver(owner, ownerIn(present), world.now())
    onLost?.(error)
    throw error
  }
  const heartbeat = startHeartbeat(path, owner.token, everyMs)
  heartbeat.on('message', () => {
    try {
      confirm()
    } catch {
      // `confirm` has called `onLost`, and the next commit throws.
    }
  })
  heartbeat.on('error', (error) => {
    warn(`the lease ${path} is no longer renewed: ${messageOf(error)}`)
  })
  const unfence = fence(folder, confirm)
  return {
    /** True if the last holder ended without releasing the lease. */
    wasLeft,
    /** @throws LockedError if another process took over the lease, or it was deleted. */
    confirm,
    release: async (): Promise<void> => {
      unfence()
      heartbeat.removeAllListeners('message')
      await heartbeat.terminate()
      if (textNow(path) === textOf(owner)) await removeFile(path)
    },
  }
}

type Taking = LeaseOptions & { readonly place: Place }

/**
 * Takes over a lease whose holder has ended. Only one of several processes does: the one
 * that holds a second lease, on the first. The first lease exists all the time, so that the
 * next run notices a crash; a second lease that a crash left is taken over in the same way.
 *
 * @returns false if the lease was released meanwhile. @throws LockedError naming the holder.
 */
async function takeOver(path: string, owner: Owner, options: Taking): Promise<boolean> {
  refuseLive(await look(path), options)
  const over = `${path}.over`
  const right = await lockFile(over, { ...options, folder: over })
  try {
    const left = await look(path)
    refuseLive(left, options)
    if (left !== undefined && (await staysSilent(path, left, options))) {
      // a new file, so that the last holder cannot renew it when it wakes up
      await writeAtomic(path, textOf(owner))
      return true
    }
    if (await createWhole(path, textOf(owner))) return false
    throw inUse(await look(path), options.world.now())
  } finally {
    await right.release()
  }
}

function refuseLive(seen: Seen | undefined, { place, world }: Taking): void {
  if (seen?.owner !== undefined && vitalsOf(seen.owner, place) === 'alive')
    throw inUse(seen, world.now())
}

/**
 * Watches a lease whose holder may live. Because the clocks of hosts differ, time is
 * counted by sleeping, and the age of the last heartbeat by the file system's clock.
 *
 * @returns false if it was released. @throws LockedError if it was renewed.
 */
async function staysSilent(path: string, first: Seen, options: Taking): Promise<boolean> {
  const { place, world, warn } = options
  if (first.owner !== undefined && vitalsOf(first.owner, place) === 'dead') return true
  const { mtimeMs: present } = await stat(`${path}.over`)
  const watchMs = present - first.beatAt >= SILENT_MS ? LOOK_MS : SILENT_MS
  const who = describeHolder(first, world.now())
  warn(`${path} is in use by ${who}; waiting up to ${watchMs / 1000} s for a heartbeat`)
  for (let waited = 0; waited < watchMs; waited += POLL_MS) {
    await world.sleep(POLL_MS, world.signal)
    const seen = await look(path)
    if (seen === undefined) return false
    if (seen.mark !== first.mark) throw inUse(seen, world.now())
  }
  return true
}

export type LeaseStatus = Readonly<NonNullable<Awaited<ReturnType<typeof leaseStatus>>>>

/** The lease of a data folder; undefined if there is none. Does not watch it. */
export async function leaseStatus(dataFolder: string, now: number) {
  const seen = await look(pathIn(dataFolder))
  if (seen?.owner === undefined) return undefined
  const vitals = vitalsOf(seen.owner, thisPlace())
  const byAge = now - seen.beatAt >= SILENT_MS ? 'silent' : 'alive'
  return {
    ...seen.owner,
    /** When it was last renewed, ISO 8601, UTC. */
    heartbeatAt: new Date(seen.beatAt).toISOString(),
    /** `silent`: held on another host and not renewed for minutes; the next run takes it over. */
    state: vitals === 'unknown' ? byAge : vitals,
  }
}

function inUse(seen: Seen | undefined, now: number): LockedError {
  const who = seen === undefined ? 'another process' : describeHolder(seen, now)
  return new LockedError(`the data folder is in use by ${who}`, {
    hint: 'Wait until it ends. If it hangs, stop that process: the next run takes over within minutes, and you do not need to delete anything.',
  })
}

function takenOver(owner: Owner, current: Owner | undefined, now: number): LockedError {
  const how =
    current === undefined
      ? 'is gone: another run took it over and has ended, or it was deleted'
      : `was taken over by ${describeOwner(current, now)}`
  return new LockedError(`the lease of run ${owner.runId} ${how}; the run stopped`, {
    hint: 'A lease is taken over when its holder is silent for minutes, for example because it was suspended.',
  })
}

function describeHolder({ owner, beatAt }: Seen, now: number): string {
  const beat = `last heartbeat ${new Date(beatAt).toISOString()}`
  if (owner === undefined) return `an unknown process (${beat})`
  return `${describeOwner(owner, now)}, ${beat}`
}

/** For example `run 2026… (process 7 on host, since 2026-…, 3 h 5 min)`. */
export function describeOwner({ runId, pid, host, since }: Owner, now: number): string {
  const minutes = Math.floor((now - Date.parse(since)) / 60_000)
  const age = minutes >= 0 ? `, ${inWords(minutes)}` : ''
  return `run ${runId} (process ${pid} on ${host}, since ${since}${age})`
}

function inWords(minutes: number): string {
  if (minutes < 1) return 'less than a minute'
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** The holder of a lease: the content of its file. */
type Owner = Readonly<z.output<typeof ownerShape>>

/** A lease file as it was read. */
type Seen = NonNullable<Awaited<ReturnType<typeof look>>>

/**
 * Reads a lease file; undefined if there is none. Opens it each time, so that a network file
 * system reads it again. @throws UsageError if the path is a folder.
 */
async function look(path: string) {
  try {
    await using file = await open(path, 'r')
    const { ino, mtimeNs, mtimeMs } = await file.stat({ bigint: true })
    const text = await file.readFile('utf8')
    return {
      /** Undefined if a crash cut the file off. */
      owner: ownerIn(text),
      /** When it was last renewed, by the clock of its file system, milliseconds since the epoch. */
      beatAt: Number(mtimeMs),
      /** Changes with every renewal. */
      mark: `${ino} ${mtimeNs} ${text}`,
    }
  } catch (error) {
    if (isMissing(error)) return undefined
    return unlessFolder(path, error)
  }
}

/** The content of a lease file; empty if there is none. Synchronous, so that the next commit follows immediately. */
function textNow(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) return ''
    throw error
  }
}

function textOf(owner: Owner): string {
  return `${JSON.stringify(owner)}\n`
}

function ownerIn(text: string): Owner | undefined {
  return ownerShape.safeParse(jsonObject(text)).data
}

/** Earlier versions did not write the place and the token. */
const ownerShape = z.object({
  pid: z.number().int().positive(),
  host: z.string(),
  boot: z.string().nullable().default(null),
  pidNamespace: z.string().nullable().default(null),
  begun: z.string().nullable(),
  runId: z.string(),
  since: z.string(),
  /** Unique for each time a lease is taken, which run ids may not be. */
  token: z.string().default(''),
})

/**
 * Renews a lease: writes the first byte of its file again, so that the file system
 * sets the modification time by its own clock. Checks the token in the same opened
 * file, so that it never renews the lease of another owner. The program is a string,
 * because its file would have different names in the sources and in the package.
 */
const PROGRAM = `
const { closeSync, openSync, readFileSync, writeSync } = require('node:fs')
const { parentPort, workerData } = require('node:worker_threads')
const { path, token, everyMs } = workerData
setInterval(() => {
  let file
  try {
    file = openSync(path, 'r+')
    const text = readFileSync(file, 'utf8')
    if (text.includes(token)) writeSync(file, text.slice(0, 1), 0)
    else parentPort.postMessage('lost')
  } catch (error) {
    // Any other error may pass, such as a full disk or an unreachable server.
    if (error.code === 'ENOENT') parentPort.postMessage('lost')
  } finally {
    if (file !== undefined) closeSync(file)
  }
}, everyMs)
`

/** Renews a lease in its own thread, which neither a long loop nor a queue for the disk delays. */
function startHeartbeat(path: string, token: string, everyMs: number): Worker {
  const thread = new Worker(PROGRAM, {
    eval: true,
    workerData: { path, token, everyMs },
    execArgv: [],
    env: {},
    name: 'heartbeat',
  })
  thread.unref()
  return thread
}
