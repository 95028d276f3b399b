import { Worker } from 'node:worker_threads'

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

export interface HeartbeatOptions {
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
    onError(error instanceof Error ? error : new Error(String(error)))
  })
  return {
    stop: async () => {
      thread.removeAllListeners('message')
      await thread.terminate()
    },
  }
}
