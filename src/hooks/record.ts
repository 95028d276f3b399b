import {
  closeSync,
  constants,
  copyFileSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { isHookEvent } from './events.ts'
import type { HookFolders } from './folders.ts'
import { makeFolder } from '../lib/disk.ts'

/** One event as it is recorded. `input` is JSON text, its secrets taken out. */
export interface EventRecord {
  /** A UUID: the event's key, and part of its file's name, so that no two files have one. */
  readonly eventId: string
  /** Milliseconds since the epoch. */
  readonly recordedAt: number
  readonly input: string
  readonly event: string | null
}

/** The text of an event's file. `input` stands last, so that its text can be cut out as it came. */
export function textOf({ eventId, recordedAt, input }: EventRecord): string {
  const at = new Date(recordedAt).toISOString()
  return `{"event_id":"${eventId}","recorded_at":"${at}","input":${input}}\n`
}

/**
 * Writes the event into the spool: aside, synced, renamed. Every event has a file
 * of its own, so that hundreds of processes at once need no lock. Synchronous,
 * because nothing else is going on and a process of one event is to end soon.
 *
 * @returns the name of the file.
 * @throws Error of the file system; nothing is then in the spool.
 */
export function spoolEvent(folders: HookFolders, record: EventRecord): string {
  const time = new Date(record.recordedAt).toISOString().replaceAll(/[-:.]/g, '')
  const name = `${time}-${record.eventId}.json`
  makeFolder(folders.spool)
  settle(join(folders.spool, name), (temporary) => {
    writeSynced(temporary, textOf(record))
  })
  syncFolder(folders.spool)
  return name
}

/**
 * Gives the sender a file of its own, of the same content: `sync` may remove the
 * spool's at any time, and the sender its own, and neither asks the other.
 */
export function handToSender(folders: HookFolders, name: string): void {
  makeFolder(folders.inbox)
  const [from, to] = [join(folders.spool, name), join(folders.inbox, name)]
  try {
    linkSync(from, to)
  } catch {
    // A file system without hard links.
    settle(to, (temporary) => {
      copyFileSync(from, temporary, constants.COPYFILE_EXCL)
    })
  }
}

/** Notes when this event came last, for `hooks status`. The last of several at once stays. */
export function noteLast(folders: HookFolders, { event, recordedAt }: EventRecord): void {
  const name = event !== null && isHookEvent(event) ? event : 'other'
  makeFolder(folders.last)
  settle(
    join(folders.last, name),
    (temporary) => {
      write(temporary, `${new Date(recordedAt).toISOString()}\n`)
    },
    `.${process.pid}`,
  )
}

/** An ending that no reader takes for an event, and that tidying after a run leaves alone. */
export const ASIDE_ENDING = '.writing'

function settle(path: string, make: (temporary: string) => void, distinct = ''): void {
  const temporary = `${path}${distinct}${ASIDE_ENDING}`
  try {
    make(temporary)
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

function write(path: string, text: string): void {
  withFile(path, (file) => {
    writeWhole(file, text)
  })
}

function writeSynced(path: string, text: string): void {
  withFile(path, (file) => {
    writeWhole(file, text)
    fsyncSync(file)
  })
}

function withFile(path: string, work: (file: number) => void): void {
  const file = openSync(path, 'wx', 0o600)
  try {
    work(file)
  } finally {
    closeSync(file)
  }
}

/** A disk that is nearly full takes a part, and refuses the next. */
function writeWhole(file: number, text: string): void {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at)
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
