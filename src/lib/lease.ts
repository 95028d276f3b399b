import { readFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { z } from 'zod'
import { asError } from './errors.ts'
import {
  createWhole,
  isMissing,
  listIfThere,
  nameOfTemporary,
  removeFile,
  unlessFolder,
  writeAtomic,
} from './files.ts'
import type { ProcessId } from './place.ts'

/** Who holds a lease: the content of its file. */
export interface Owner extends ProcessId {
  readonly runId: string
  readonly since: string
  /** Of this one holding: the names of runs may recur. */
  readonly token: string
}

/** What a lease file shows. */
export interface Seen {
  /** Undefined where a crash cut the file off. */
  readonly owner: Owner | undefined
  /** When it was last renewed, by the clock of its file system, milliseconds since the epoch. */
  readonly beatAt: number
  /** Changes with every renewal. */
  readonly mark: string
}

/** Undefined when there is none, and a UsageError where a folder is in its place. Opened each time: that makes a network file system read it again. */
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

/** Who holds it at this moment. Synchronous, so that what is committed next comes right after. */
export function ownerNow(path: string): Owner | undefined {
  try {
    return ownerIn(readFileSync(path, 'utf8'))
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** False where there is one. It has its whole content from its first moment. */
export function create(path: string, owner: Owner): Promise<boolean> {
  return createWhole(path, `${JSON.stringify(owner)}\n`)
}

/** A new file, so that the last holder, should it wake up, cannot renew it. */
export function replace(path: string, owner: Owner): Promise<void> {
  return writeAtomic(path, `${JSON.stringify(owner)}\n`)
}

/** Removes leases that were being written when their process was killed, or that come too late now. */
export async function removeUnfinished(path: string): Promise<void> {
  for (const { name } of await listIfThere(dirname(path))) {
    if (nameOfTemporary(name) === basename(path)) await removeFile(join(dirname(path), name))
  }
}

function ownerIn(text: string): Owner | undefined {
  try {
    return ownerShape.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}

/** Earlier versions wrote no place and no token. */
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
 * sets the time of the change by its own clock. Only of a file that still has the
 * owner's token, opened once, so that it never renews the lease of another.
 * The program of a thread is given as text: the sources and the package have it
 * in files of different names.
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
    // Anything else may pass: a disk that is full, a server that is away.
    if (error.code === 'ENOENT') parentPort.postMessage('lost')
  } finally {
    if (file !== undefined) closeSync(file)
  }
}, everyMs)
`

interface HeartbeatOptions {
  /** Of the lease. */
  readonly path: string
  /** What its text has while it is the owner's. */
  readonly token: string
  readonly everyMs: number
  /** Called when the lease is another's, or gone. */
  readonly onLost: () => void
  readonly onError: (error: Error) => void
}

/** In a thread of its own: neither a long loop nor a queue for the disk delays it. */
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
