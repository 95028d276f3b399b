import { appendFileSync, closeSync, openSync, renameSync, statSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isMissing, makeFolder, writeAtomic, writeUnsynced } from '../lib/files.ts'
import { eventText, type HookEvent, type HookEventName } from './event.ts'
import { thisPlace, vitalsOf, type ProcessId } from '../lib/place.ts'

/** The files of hooks, all below `<data>/state/hooks/`. */
export type HookFolders = Readonly<ReturnType<typeof hookFolders>>

export function hookFolders(dataFolder: string) {
  const root = join(dataFolder, 'state', 'hooks')
  return {
    root,
    /** Events that are not yet in the lake; `sync` and `build` land and remove them. */
    spool: join(root, 'spool'),
    /** The same events until the rules have been applied to them. */
    inbox: join(root, 'inbox'),
    outbox: join(root, 'outbox'),
    /** Notifications that were given up, with the reason. */
    failed: join(root, 'failed'),
    /** When each event came last. */
    last: join(root, 'last'),
    errorsLog: join(root, 'errors.log'),
    senderLock: join(root, 'sender.lock'),
    /** Recently reported events. */
    recent: join(root, 'recent.json'),
    /** What `hooks install` created in which settings file. */
    installed: join(root, 'installed.json'),
  }
}

type EventRecord = Pick<HookEvent, 'eventId' | 'recordedAt' | 'input'>

/**
 * Writes the event into the spool. Every event has its own file, so that hundreds of processes at
 * once need no lock.
 *
 * @returns the name of the file, and its text.
 * @throws Error of the file system; then the spool has no file of the event.
 */
export async function spoolEvent({ spool }: HookFolders, record: EventRecord) {
  const { eventId, recordedAt, input } = record
  const name = fileName(new Date(recordedAt).toISOString(), eventId)
  const text = eventText(eventId, recordedAt, input)
  await againIfRemoved(() => writeAtomic(join(spool, name), text))
  return { name, text }
}

/** `20260310T060000000Z-<id>.json`: file names sort by time (ISO 8601). */
export function fileName(time: string, id: string): string {
  return `${time.replaceAll(/[-:.]/g, '')}-${id}.json`
}

/**
 * Gives the sender its own file with the same content: `sync` may remove the file in the
 * spool at any time, and the sender its own, independently.
 */
export async function handToSender(
  { inbox }: HookFolders,
  { name, text }: Awaited<ReturnType<typeof spoolEvent>>,
): Promise<void> {
  await againIfRemoved(() => writeUnsynced(join(inbox, name), text))
}

/** Records when this event came last, for `hooks status`. */
export async function noteLast(
  { last }: HookFolders,
  event: HookEventName | null,
  at: number,
): Promise<void> {
  await againIfRemoved(() =>
    writeUnsynced(join(last, event ?? 'other'), `${new Date(at).toISOString()}\n`),
  )
}

/** Writes again if a run, which removes the temporary files of a killed one, removed that of this write. */
async function againIfRemoved(write: () => Promise<void>): Promise<void> {
  await write().catch((error: unknown) => {
    if (isMissing(error)) return write()
    throw error
  })
}

/** A longer log is renamed to `errors.log.1`, which replaces the one before. */
const MAX_LOG_BYTES = 256 * 1024
const MAX_LINE = 1000

/**
 * Adds one line to the error log, and ignores failures: there is nowhere else to report
 * them. Writes each line at once, so that concurrent processes do not mix their lines.
 */
export function logError({ errorsLog }: HookFolders, now: number, message: string): void {
  const line = message.replaceAll(/\s+/g, ' ').slice(0, MAX_LINE)
  try {
    makeFolder(dirname(errorsLog))
    const size = statSync(errorsLog, { throwIfNoEntry: false })?.size ?? 0
    if (size > MAX_LOG_BYTES) renameSync(errorsLog, `${errorsLog}.1`)
    appendFileSync(errorsLog, `${new Date(now).toISOString()} ${line}\n`, { mode: 0o600 })
  } catch {
    // For example, the disk is full.
  }
}

/** A live sender renews its lock several times within this time. */
export const MAX_LOCK_AGE_MS = 5_000

/** The absolute paths that a sender is started with; `script`: the command's own. */
export interface SenderStart {
  readonly script: string
  readonly dataFolder: string
  readonly config: string
  readonly environment: NodeJS.ProcessEnv
}

/**
 * True if the configuration may configure hooks. Searches its bytes, because parsing YAML
 * takes longer than everything else here; the sender parses it.
 */
export function mentionsHooks(configFile: string): boolean {
  try {
    return readFileSync(configFile).includes('hooks')
  } catch {
    return false
  }
}

/**
 * True if a sender is running. It will read the inbox again, even after it has released its
 * lock. The lock of a killed sender is soon out of date.
 */
export function isSenderAtWork(folders: HookFolders, now: number): boolean {
  try {
    const age = Math.abs(now - statSync(folders.senderLock).mtimeMs)
    if (age > MAX_LOCK_AGE_MS) return false
    const owner: unknown = JSON.parse(readFileSync(folders.senderLock, 'utf8'))
    return isProcessId(owner) && vitalsOf(owner, thisPlace()) !== 'dead'
  } catch {
    return false
  }
}

/** Uses no library, because the agent waits for this. */
function isProcessId(value: unknown): value is ProcessId {
  return (
    typeof value === 'object' &&
    value !== null &&
    'pid' in value &&
    typeof value.pid === 'number' &&
    ['host', 'boot', 'pidNamespace', 'begun'].every((name) => name in value)
  )
}

/**
 * Starts a process that delivers and then ends, independently of this one. It inherits
 * the terminal, if there is one, to ring its bell.
 *
 * @throws Error if the system starts no process.
 */
export async function startSender(start: SenderStart): Promise<void> {
  const { script, dataFolder, config, environment } = start
  // Imported here, because most events start no sender.
  const { spawn } = await import('node:child_process')
  const terminal = openTerminal()
  const child = spawn(
    process.execPath,
    [script, 'hooks', 'flush', '--detached', '--data', dataFolder, '--config', config],
    {
      cwd: dataFolder,
      detached: true,
      env: environment,
      stdio: ['ignore', terminal ?? 'ignore', 'ignore'],
      windowsHide: true,
    },
  )
  child.on('error', () => undefined)
  child.unref()
  if (terminal !== undefined) closeSync(terminal)
  if (child.pid === undefined) throw new Error('the system did not start a process for the sender')
}

function openTerminal(): number | undefined {
  try {
    return openSync('/dev/tty', 'w')
  } catch {
    return undefined
  }
}
