import { readFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { Worker } from 'node:worker_threads'
import { z } from 'zod'
import { asError } from './errors.ts'
import { createWhole, isMissing, unlessFolder, writeAtomic } from './files.ts'
import { jsonObject } from './json.ts'
import type { ProcessId } from './place.ts'

/** The holder of a lease: the content of its file. */
export interface Owner extends ProcessId {
  readonly runId: string
  readonly since: string
  /** Unique for each time a lease is taken, which run ids may not be. */
  readonly token: string
}

/** A lease file as it was read. */
export interface Seen {
  /** Undefined if a crash cut the file off. */
  readonly owner: Owner | undefined
  /** When it was last renewed, by the clock of its file system, milliseconds since the epoch. */
  readonly beatAt: number
  /** Changes with every renewal. */
  readonly mark: string
}

/**
 * Reads a lease file; undefined if there is none. Opens it each time, so that a network file
 * system reads it again. @throws UsageError if the path is a folder.
 */
export async function look(path: string): Promise<Seen | undefined> {
  try {
    const file = await open(path, 'r')
    try {
      const { ino, mtimeNs, mtimeMs } = await file.stat({ bigint: true })
      const text = await file.readFile('utf8')
      return { owner: ownerIn(text), beatAt: Number(mtimeMs), mark: `${ino} ${mtimeNs} ${text}` }
    } finally {
      await file.close()
    }
  } catch (error) {
    if (isMissing(error)) return undefined
    return unlessFolder(path)(error)
  }
}

/**
 * Whether this owner, which has taken the lease, still holds it. Synchronous, so that the next commit
 * follows immediately.
 */
export function isHeldBy(owner: Owner, path: string): boolean {
  return textNow(path) === textOf(owner)
}

/** The current holder. */
export function ownerNow(path: string): Owner | undefined {
  return ownerIn(textNow(path))
}

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

/** Creates a lease file with its whole content; false if there is one. */
export function create(path: string, owner: Owner): Promise<boolean> {
  return createWhole(path, textOf(owner))
}

/** Replaces a lease by a new file, so that the last holder cannot renew it when it wakes up. */
export function replace(path: string, owner: Owner): Promise<void> {
  return writeAtomic(path, textOf(owner))
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

interface HeartbeatOptions {
  readonly path: string
  readonly token: string
  readonly everyMs: number
  /** Called if the lease has another owner, or is gone. */
  readonly onLost: () => void
  readonly onError: (error: Error) => void
}

/** Renews a lease in its own thread, which neither a long loop nor a queue for the disk delays. */
export function startHeartbeat(options: HeartbeatOptions): { readonly stop: () => Promise<void> } {
  const { path, token, everyMs, onLost, onError } = options
  const thread = new Worker(PROGRAM, {
    eval: true,
    workerData: { path, token, everyMs },
    execArgv: [],
    env: {},
    name: 'heartbeat',
  })
  thread.unref()
  thread.on('message', onLost)
  thread.on('error', (error) => {
    onError(asError(error))
  })
  return {
    stop: async () => {
      thread.removeAllListeners('message')
      await thread.terminate()
    },
  }
}
