import {
  appendFileSync,
  closeSync,
  constants,
  copyFileSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { makeFolder } from '../lib/disk.ts'
import { eventText, type HookEventName } from './event.ts'

/** Where hooks keep their files, all below `<data>/state/hooks/`. */
export type HookFolders = Readonly<ReturnType<typeof hookFolders>>

export function hookFolders(dataFolder: string) {
  const root = join(dataFolder, 'state', 'hooks')
  return {
    root,
    /** Events that are not yet in the lake; `sync` and `build` land and remove them. */
    spool: join(root, 'spool'),
    /** The same events until the rules have been applied to them. */
    inbox: join(root, 'inbox'),
    /** Notifications that are to be delivered. */
    outbox: join(root, 'outbox'),
    /** Notifications that were given up, with the reason. */
    failed: join(root, 'failed'),
    /** When each event came last. */
    last: join(root, 'last'),
    errorsLog: join(root, 'errors.log'),
    senderLock: join(root, 'sender.lock'),
    /** What was notified of lately. */
    recent: join(root, 'recent.json'),
    /** What `hooks install` made in which settings file. */
    installed: join(root, 'installed.json'),
  }
}

/** One event as it is recorded. */
export interface EventRecord {
  /** A UUID: the event's key, and part of its file's name, so that no two files have one. */
  readonly eventId: string
  /** Milliseconds since the epoch. */
  readonly recordedAt: number
  /** JSON text, its secrets taken out. */
  readonly input: string
}

/**
 * Writes the event into the spool: temporary file, synced, renamed. Every event has a
 * file of its own, so that hundreds of processes at once need no lock. Synchronous,
 * because nothing else is going on and a process of one event is to end soon.
 *
 * @returns the name of the file.
 * @throws Error of the file system; nothing is then in the spool.
 */
export function spoolEvent({ spool }: HookFolders, record: EventRecord): string {
  const { eventId, recordedAt, input } = record
  const name = fileName(new Date(recordedAt).toISOString(), eventId)
  makeFolder(spool)
  writeRenamed(join(spool, name), (temporary) => {
    const options = { flag: 'wx', mode: 0o600, flush: true }
    writeFileSync(temporary, eventText(eventId, recordedAt, input), options)
  })
  syncFolder(spool)
  return name
}

/** `20260310T060000000Z-<id>.json`: names of files that stand in order of their time (ISO 8601). */
export function fileName(time: string, id: string): string {
  return `${time.replaceAll(/[-:.]/g, '')}-${id}.json`
}

/**
 * Gives the sender a file of its own, of the same content: `sync` may remove the
 * spool's at any time, and the sender its own, and neither asks the other.
 */
export function handToSender({ spool, inbox }: HookFolders, name: string): void {
  makeFolder(inbox)
  const [from, to] = [join(spool, name), join(inbox, name)]
  try {
    linkSync(from, to)
  } catch {
    // A file system without hard links.
    writeRenamed(to, (temporary) => {
      copyFileSync(from, temporary, constants.COPYFILE_EXCL)
    })
  }
}

/** Notes when this event came last, for `hooks status`. The last of several at once stays. */
export function noteLast({ last }: HookFolders, event: HookEventName | null, at: number): void {
  makeFolder(last)
  const distinct = `.${process.pid}`
  writeRenamed(
    join(last, event ?? 'other'),
    (temporary) => {
      writeFileSync(temporary, `${new Date(at).toISOString()}\n`, { flag: 'wx', mode: 0o600 })
    },
    distinct,
  )
}

/** An ending that no reader takes for an event, and that tidying after a run leaves alone. */
export const TEMPORARY_ENDING = '.writing'

function writeRenamed(path: string, write: (temporary: string) => void, distinct = ''): void {
  const temporary = `${path}${distinct}${TEMPORARY_ENDING}`
  try {
    write(temporary)
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

/** Makes the rename durable. Windows cannot sync folders and needs it not. */
function syncFolder(path: string): void {
  if (process.platform === 'win32') return
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

/** A log that has become longer is renamed to `errors.log.1`; there are two at most. */
const MAX_LOG_BYTES = 256 * 1024
const MAX_LINE = 1000

/**
 * Adds one line to the errors of the hooks, if it can: there is nowhere else to
 * say it. One write per line, so that processes at once do not mix theirs.
 */
export function logError({ errorsLog }: HookFolders, now: number, message: string): void {
  const line = message.replaceAll(/\s+/g, ' ').slice(0, MAX_LINE)
  try {
    makeFolder(dirname(errorsLog))
    const size = statSync(errorsLog, { throwIfNoEntry: false })?.size ?? 0
    if (size > MAX_LOG_BYTES) renameSync(errorsLog, `${errorsLog}.1`)
    appendFileSync(errorsLog, `${new Date(now).toISOString()} ${line}\n`, { mode: 0o600 })
  } catch {
    // The disk that an error is about may refuse its line too.
  }
}
